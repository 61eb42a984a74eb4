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

/** Buttons and entries of menus that lead to a screen: links, which open in a new tab as well. */
export const LinkButton = createLink(AnchorButton)
export const LinkItem = createLink(AnchorItem)
