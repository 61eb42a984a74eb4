/** Completes the WAI-ARIA combobox pattern: Mantine sets the state attributes but not the role. */
export const comboboxProps = { role: 'combobox', 'aria-autocomplete': 'list' } as const
