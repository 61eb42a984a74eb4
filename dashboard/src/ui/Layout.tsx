import { ActionIcon, Button, Drawer, Kbd, Menu, Tooltip, useMantineColorScheme } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { ask, client } from '../api/client'
import { clearAll, version } from '../api/queries'
import { NAVIGATION } from '../navigation'
import { PATHS } from '../paths'
import { ROLE_NAMES } from '../policy'
import { dropDraft } from '../screens/send/draft'
import { useAccount, useClosed } from './Allowed'
import { Closed } from './Closed'
import { useChange } from './form'
import { Icon, Logo } from './Icon'
import { LinkItem } from './links'
import { Palette } from './Palette'
import { ScreenRequests } from './Request'
import { Shortcuts } from './Shortcuts'

/** Around every screen that needs a session: navigation, command palette, shortcuts. */
export function Layout({ children }: { children?: ReactNode }) {
  const [isMenuOpen, menu] = useDisclosure(false)
  const [isPaletteOpen, palette] = useDisclosure(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  useEffect(() => menu.close(), [path])
  useLeaveWhenLoggedOut()
  return (
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
        <Button className="top-search" variant="default" leftSection={<Icon name="search" size={15} />} rightSection={<Kbd size="xs">Ctrl K</Kbd>} onClick={palette.open}>
          Search
        </Button>
        <ActionIcon className="top-search-small" variant="subtle" color="gray" size="lg" aria-label="Search" onClick={palette.open}>
          <Icon name="search" />
        </ActionIcon>
        <ScreenRequests />
        <SchemeSwitch />
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
      <Palette opened={isPaletteOpen} onClose={palette.close} />
      <Shortcuts onPalette={palette.open} />
    </div>
  )
}

/** The screen, or why it shows nothing to this person. */
function Screen() {
  // What the outlet would show, which on the way to another screen is still the one before.
  const path = useRouterState({ select: (state) => state.matches.at(-1)?.pathname ?? '' })
  const closed = useClosed()
  const entry = NAVIGATION.flatMap((group) => group.entries).find(({ screen }) => PATHS[screen] === `/${path.split('/')[1]}`)
  const reason = entry && closed(entry)
  return (
    <div className="content" data-screen={path}>
      {reason ? <Closed key={path} title={entry.label} reason={reason} queue={entry.screen === 'queue'} /> : <Outlet />}
    </div>
  )
}

function Navigation() {
  const closed = useClosed()
  // What the account may not open, or the instance does not have, is no link.
  const groups = NAVIGATION.map((group) => ({ ...group, entries: group.entries.filter((entry) => !closed(entry)) })).filter((group) => group.entries.length > 0)
  return (
    <nav aria-label="Screens">
      {groups.map((group) => (
        <div className="nav-group" key={group.title}>
          <h2 className="nav-title">{group.title}</h2>
          <ul>
            {group.entries.map((entry) => (
              <li key={entry.screen}>
                <Link to={PATHS[entry.screen]} className="nav-link" activeOptions={{ exact: entry.screen === 'overview', includeSearch: false }}>
                  <Icon name={entry.icon} /> {entry.label}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <Version />
    </nav>
  )
}

function Version() {
  const { data } = useQuery(version())
  return (
    <p className="nav-foot">
      <a href="/docs">Documentation</a> {data && <span>Mailkeep {data.version}</span>}
    </p>
  )
}

// Transitions are kept, because Mantine would switch them off by a style element, which the policy forbids.
export function SchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  const isDark = colorScheme === 'dark' || (colorScheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches)
  const label = isDark ? 'Light theme' : 'Dark theme'
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} onClick={() => setColorScheme(isDark ? 'light' : 'dark')}>
        <Icon name={isDark ? 'sun' : 'moon'} />
      </ActionIcon>
    </Tooltip>
  )
}

/** Ends the session; the login has the screen next. */
export function useLogout() {
  const navigate = useNavigate()
  return useChange({
    change: () => ask(client.POST('/auth/logout')),
    refreshes: [],
    then: () => {
      clearAll()
      dropDraft()
      void navigate({ to: PATHS.login })
    },
  })
}

function AccountMenu() {
  const account = useAccount()
  const logout = useLogout()
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
          Your account
        </LinkItem>
        {!account.second_factor_required && (
          <LinkItem to={PATHS.start} leftSection={<Icon name="flag" size={16} />}>
            First steps
          </LinkItem>
        )}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="out" size={16} />} onClick={() => logout.mutate(undefined)}>
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** A session that ended elsewhere: to the login, and back here after it. */
function useLeaveWhenLoggedOut() {
  const navigate = useNavigate()
  useEffect(() => {
    const leave = () => {
      const next = location.pathname + location.search
      clearAll()
      void navigate({ to: PATHS.login, search: { next } })
    }
    window.addEventListener('mailkeep:logged-out', leave)
    return () => window.removeEventListener('mailkeep:logged-out', leave)
  }, [navigate])
}

