/**
 * What a list to choose from says of itself (WAI-ARIA, combobox pattern): Mantine tells whether it is open, which list
 * it opens and which option is active, but leaves the role to us.
 */
export const comboboxProps = { role: 'combobox', 'aria-autocomplete': 'list' } as const
