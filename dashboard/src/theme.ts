import { Checkbox, createTheme, Drawer, Modal, PasswordInput, Tooltip } from '@mantine/core'

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
    Modal: Modal.extend({
      defaultProps: { lockScroll: false, centered: true, closeButtonProps: { 'aria-label': 'Close' } },
    }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': 'Close' } } }),
    PasswordInput: PasswordInput.extend({
      defaultProps: { visibilityToggleButtonProps: { 'aria-label': 'Show or hide what is typed', tabIndex: 0 } },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, multiline: true, openDelay: 150, events: { hover: true, focus: true, touch: true } } }),
  },
})
