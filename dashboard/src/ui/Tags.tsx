import { MantineThemeProvider, TagsInput, type TagsInputProps } from '@mantine/core'

// It opens no list, and must not say that it does.
const THEME = { components: { ComboboxEventsTarget: { defaultProps: { withAriaAttributes: false } } } }

/** Several values, typed one after the other. */
export function Tags(props: TagsInputProps) {
  return (
    <MantineThemeProvider theme={THEME}>
      <TagsInput autoComplete="off" {...props} />
    </MantineThemeProvider>
  )
}
