import { ActionIcon, useMantineColorScheme } from '@mantine/core'
import { Hint } from './Hint'
import { Icon } from './Icon'

// Without `keepTransitions` Mantine adds a style element, which the content security policy forbids.
export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  const isDark = colorScheme === 'dark' || (colorScheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches)
  const label = isDark ? 'Light theme' : 'Dark theme'
  return (
    <Hint label={label}>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} onClick={() => setColorScheme(isDark ? 'light' : 'dark')}>
        <Icon name={isDark ? 'sun' : 'moon'} />
      </ActionIcon>
    </Hint>
  )
}
