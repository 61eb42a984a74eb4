import { Button, type ButtonProps, Menu, type MenuItemProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'

type Anchor<Props> = Props & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Props> & { ref?: Ref<HTMLAnchorElement> }

function AnchorButton(props: Anchor<ButtonProps>) {
  return <Button component="a" {...props} />
}

function AnchorItem(props: Anchor<MenuItemProps>) {
  return <Menu.Item component="a" {...props} />
}

/** Buttons and menu items that are links, so that they can open in a new tab. */
export const LinkButton = createLink(AnchorButton)
export const LinkItem = createLink(AnchorItem)
