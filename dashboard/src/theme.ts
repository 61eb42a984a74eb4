import { Checkbox, createTheme, Drawer, InputWrapper, Modal, MultiSelect, PasswordInput, Select, Tooltip } from '@mantine/core'
import { comboboxProps } from './ui/combobox'

/**
 * Colours stand in styles.css: a strict content policy allows no style element, so Mantine writes none
 * (`withCssVariables`, `withGlobalClasses`), and nothing that would make it write one may be used: no responsive
 * style props, AppShell, Grid or SimpleGrid, no scroll lock.
 */
export const theme = createTheme({
  primaryColor: 'blue',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Rounder, it looks like a choice of one.
    Checkbox: Checkbox.extend({ defaultProps: { radius: 'sm' } }),
    ComboboxEventsTarget: { defaultProps: { withExpandedAttribute: true } },
    ComboboxTarget: { defaultProps: { withExpandedAttribute: true } },
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': 'Close' } } }),
    // Help stands below the input, where an error takes its place: see `.form` in styles.css.
    InputWrapper: InputWrapper.extend({ defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] } }),
    // Anchored at the top, and faded in where it stays: what is in it never moves under the pointer.
    Modal: Modal.extend({
      defaultProps: { lockScroll: false, yOffset: '5dvh', transitionProps: { duration: 150, transition: 'fade' }, closeButtonProps: { 'aria-label': 'Close' } },
    }),
    MultiSelect: MultiSelect.extend({ defaultProps: comboboxProps }),
    PasswordInput: PasswordInput.extend({
      defaultProps: { visibilityToggleButtonProps: { 'aria-label': 'Show or hide what is typed', tabIndex: 0 } },
    }),
    Select: Select.extend({ defaultProps: comboboxProps }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, multiline: true, openDelay: 150, events: { hover: true, focus: true, touch: true } } }),
  },
})
