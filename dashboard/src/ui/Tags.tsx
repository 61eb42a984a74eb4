import { MantineThemeProvider, TagsInput, type TagsInputProps } from '@mantine/core'

// Without suggestions there is no listbox to announce.
const THEME = { components: { ComboboxEventsTarget: { defaultProps: { withAriaAttributes: false } } } }

/** Several typed values. */
export function Tags(props: TagsInputProps) {
  return (
    <MantineThemeProvider theme={THEME}>
      <TagsInput autoComplete="off" {...props} />
    </MantineThemeProvider>
  )
}
