import { createTheme } from '@mantine/core'
import type { Checkbox, Drawer, InputWrapper, Modal, MultiSelect, PasswordInput, Select, Tooltip } from '@mantine/core'
import { comboboxProps } from './ui/combobox'

/** Default props of a component. Only its type is imported, so that a page loads the components that it shows. */
type Defaults<Component extends { extend: (theme: never) => unknown }> = Parameters<Component['extend']>[0]

/**
 * The colours are in styles.css. The content security policy allows no style elements, so Mantine must not add any:
 * `withCssVariables` and `withGlobalClasses` are off, and responsive style props, AppShell, Grid, SimpleGrid and scroll
 * lock must not be used.
 */
export const theme = createTheme({
  primaryColor: 'blue',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // A rounder checkbox looks like a radio button.
    Checkbox: { defaultProps: { radius: 'sm' } } satisfies Defaults<typeof Checkbox>,
    ComboboxEventsTarget: { defaultProps: { withExpandedAttribute: true } },
    ComboboxTarget: { defaultProps: { withExpandedAttribute: true } },
    Drawer: { defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': 'Close' } } } satisfies Defaults<typeof Drawer>,
    // The description is below the input and an error replaces it: see `.form` in styles.css.
    InputWrapper: {
      defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] },
    } satisfies Defaults<typeof InputWrapper>,
    // Anchored at the top and faded in, so that its content never moves under the pointer.
    Modal: {
      defaultProps: {
        lockScroll: false,
        yOffset: '5dvh',
        transitionProps: { duration: 150, transition: 'fade' },
        closeButtonProps: { 'aria-label': 'Close' },
      },
    } satisfies Defaults<typeof Modal>,
    MultiSelect: { defaultProps: comboboxProps } satisfies Defaults<typeof MultiSelect>,
    PasswordInput: {
      defaultProps: { visibilityToggleButtonProps: { 'aria-label': 'Toggle visibility', tabIndex: 0 } },
    } satisfies Defaults<typeof PasswordInput>,
    Select: { defaultProps: comboboxProps } satisfies Defaults<typeof Select>,
    Tooltip: {
      defaultProps: { withArrow: true, multiline: true, openDelay: 150, events: { hover: true, focus: true, touch: true } },
    } satisfies Defaults<typeof Tooltip>,
  },
})
