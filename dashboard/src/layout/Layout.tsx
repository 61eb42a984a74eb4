import { ActionIcon, Button, Drawer, Kbd, Menu } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { type ReactNode, useCallback, useEffect } from 'react'
import { clearCaches } from '../api/queries'
import { PATHS } from '../paths'
import { DenialContext } from '../access/Allowed'
import { type Action, denialReason, ROLE_NAMES } from '../access/policy'
import { useAccount, useUnavailableReason } from '../access/account'
import { findEntry, Navigation } from './Navigation'
import { Unavailable } from './Unavailable'
import { Icon, Logo } from '../ui/Icon'
import { LinkItem } from '../ui/links'
import { Operations } from './Operations'
import { CommandPalette, openCommandPalette } from './CommandPalette'
import { ScreenRequests } from '../ui/RequestSnippet'
import { ThemeSwitch } from '../ui/ThemeSwitch'
import { Shortcuts } from './Shortcuts'
import { useSignOut } from '../ui/useSignOut'

/** The frame of every screen that needs a session: navigation, command palette, shortcuts. */
export function Layout({ children }: { children?: ReactNode }) {
  const [isMenuOpen, menu] = useDisclosure(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  useEffect(() => menu.close(), [path])
  useLeaveWhenSignedOut()
  const account = useAccount()
  const denial = useCallback((action: Action) => denialReason(account, action), [account])
  return (
    <DenialContext value={denial}>
      <div className="frame">
        <a className="skip" href="#content">
          Skip to content
        </a>
        <header className="top">
          <ActionIcon className="top-menu" variant="subtle" color="gray" size="lg" aria-label="Menu" onClick={menu.open}>
            <Icon name="menu" />
          </ActionIcon>
          <Link to={PATHS.overview} className="brand">
            <Logo /> <span className="brand-name">Mailkeep</span>
          </Link>
          <Button
            className="top-search"
            variant="default"
            leftSection={<Icon name="search" size={15} />}
            rightSection={<Kbd size="xs">Ctrl K</Kbd>}
            onClick={openCommandPalette}
          >
            Search
          </Button>
          <ActionIcon className="top-search-small" variant="subtle" color="gray" size="lg" aria-label="Search" onClick={openCommandPalette}>
            <Icon name="search" />
          </ActionIcon>
          <Operations />
          <ScreenRequests />
          <ThemeSwitch />
          <AccountMenu />
        </header>
        <aside className="side">
          <Navigation />
        </aside>
        <Drawer opened={isMenuOpen} onClose={menu.close} size={280} title="Menu">
          <Navigation />
        </Drawer>
        <main id="content" tabIndex={-1}>
          {children ? <div className="content">{children}</div> : <Screen />}
        </main>
        <CommandPalette />
        <Shortcuts onSearch={openCommandPalette} />
      </div>
    </DenialContext>
  )
}

/** The screen, or why it is not available. */
function Screen() {
  // During a navigation the outlet still shows the previous screen, so this is the path of the match.
  const path = useRouterState({ select: (state) => state.matches.at(-1)?.pathname ?? '' })
  const unavailableReason = useUnavailableReason()
  const entry = findEntry(path)
  const reason = entry && unavailableReason(entry)
  return (
    <div className="content" data-screen={path}>
      {reason ? <Unavailable key={path} title={entry.label} reason={reason} queue={entry.screen === 'queue'} /> : <Outlet />}
    </div>
  )
}

function AccountMenu() {
  const account = useAccount()
  const signOut = useSignOut()
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <ActionIcon variant="light" size="lg" radius="xl" aria-label={`Account of ${account.email}`}>
          <Icon name="person" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <span className="menu-email">{account.email}</span>
          <br />
          {ROLE_NAMES[account.role]}
        </Menu.Label>
        <LinkItem to={PATHS.account} leftSection={<Icon name="person" size={16} />}>
          Account
        </LinkItem>
        {!account.second_factor_required && (
          <LinkItem to={PATHS.start} leftSection={<Icon name="flag" size={16} />}>
            First steps
          </LinkItem>
        )}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="out" size={16} />} onClick={() => signOut.mutate(undefined)}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** When the session ended elsewhere, or the password must be changed first, opens a screen that returns to this one afterwards. */
function useLeaveWhenSignedOut() {
  const navigate = useNavigate()
  useEffect(() => {
    const leave = (to: typeof PATHS.login | typeof PATHS.password) => () => {
      const next = location.pathname + location.search
      clearCaches()
      void navigate({ to, search: { next } })
    }
    const listeners = { 'mailkeep:logged-out': leave(PATHS.login), 'mailkeep:password-change': leave(PATHS.password) }
    for (const [name, listener] of Object.entries(listeners)) window.addEventListener(name, listener)
    return () => {
      for (const [name, listener] of Object.entries(listeners)) window.removeEventListener(name, listener)
    }
  }, [navigate])
}
