import type { TagsInputProps } from '@mantine/core'
import { Tags } from './Tags'

type Props = Omit<TagsInputProps, 'value' | 'onChange'> & { value: string[]; onChange: (value: string[]) => void }

/** Email addresses, separated by Enter, commas, spaces or semicolons, typed or pasted. */
export function Addresses({ value, onChange, placeholder, ...rest }: Props) {
  return (
    <Tags
      splitChars={[',', ' ', ';']}
      acceptValueOnBlur
      placeholder={value.length ? '' : (placeholder ?? '')}
      value={value}
      onChange={(texts) => onChange([...new Set(texts.flatMap((each) => each.split(/[\s,;]+/)).filter(Boolean))])}
      {...rest}
    />
  )
}
