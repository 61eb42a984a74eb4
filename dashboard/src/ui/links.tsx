import { Button, Menu } from '@mantine/core'
import { createLink } from '@tanstack/react-router'

/** Buttons and entries of menus that lead to a screen. */
export const LinkButton = createLink(Button<'a'>)
export const LinkItem = createLink(Menu.Item<'a'>)
