import { Notifications } from '@mantine/notifications'
import { localStorageColorSchemeManager, MantineProvider, Tooltip } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { accountCredentials, CredentialsContext } from './api/credentials'
import { queryClient } from './api/queries'
import { navigation } from './layout/routerNavigation'
import { router } from './routes'
import { theme } from './theme'
import { HintContext } from './ui/Hint'
import { NavigationContext } from './ui/navigation'

const showTooltip = (props: { label: string; children: ReactElement }) => <Tooltip {...props} />
const schemes = localStorageColorSchemeManager({ key: 'mailkeep-color-scheme' })

export function App() {
  return (
    <MantineProvider
      theme={theme}
      colorSchemeManager={schemes}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queryClient}>
        <CredentialsContext value={accountCredentials}>
          <NavigationContext value={navigation}>
            <HintContext value={showTooltip}>
              <RouterProvider router={router} />
            </HintContext>
          </NavigationContext>
        </CredentialsContext>
        <Notifications aria-live="polite" position="bottom-right" limit={10} containerWidth={360} />
      </QueryClientProvider>
    </MantineProvider>
  )
}
