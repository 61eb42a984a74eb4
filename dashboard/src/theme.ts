import { Checkbox, createTheme, Drawer, InputWrapper, Modal, MultiSelect, PasswordInput, Select, Tooltip } from '@mantine/core'
import { comboboxProps } from './ui/combobox'

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
    Checkbox: Checkbox.extend({ defaultProps: { radius: 'sm' } }),
    ComboboxEventsTarget: { defaultProps: { withExpandedAttribute: true } },
    ComboboxTarget: { defaultProps: { withExpandedAttribute: true } },
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': 'Close' } } }),
    // The description is below the input and an error replaces it: see `.form` in styles.css.
    InputWrapper: InputWrapper.extend({ defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] } }),
    // Anchored at the top and faded in, so that its content never moves under the pointer.
    Modal: Modal.extend({
      defaultProps: {
        lockScroll: false,
        yOffset: '5dvh',
        transitionProps: { duration: 150, transition: 'fade' },
        closeButtonProps: { 'aria-label': 'Close' },
      },
    }),
    MultiSelect: MultiSelect.extend({ defaultProps: comboboxProps }),
    PasswordInput: PasswordInput.extend({
      defaultProps: { visibilityToggleButtonProps: { 'aria-label': 'Toggle visibility', tabIndex: 0 } },
    }),
    Select: Select.extend({ defaultProps: comboboxProps }),
    Tooltip: Tooltip.extend({
      defaultProps: { withArrow: true, multiline: true, openDelay: 150, events: { hover: true, focus: true, touch: true } },
    }),
  },
})
