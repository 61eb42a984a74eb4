import { ActionIcon } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { ErrorBar } from '../ui/ErrorBar'
import { Icon, type IconName, Logo } from '../ui/Icon'
import { ThemeSwitch } from '../ui/ThemeSwitch'
import { useSignOut } from '../ui/useSignOut'
import { OWNER_PATHS, type OwnerScreen } from './paths'
import type { OwnMailbox } from './requests'
import { OwnerLink } from './router'

const ENTRIES: readonly { screen: OwnerScreen; label: string; icon: IconName }[] = [
  { screen: 'overview', label: 'Overview', icon: 'home' },
  { screen: 'junk', label: 'Junk', icon: 'inbox' },
  { screen: 'mail', label: 'Rejected mail', icon: 'mail' },
  { screen: 'spam', label: 'Spam filter', icon: 'sliders' },
  { screen: 'vacation', label: 'Vacation', icon: 'clock' },
  { screen: 'forwarding', label: 'Forwarding', icon: 'branch' },
  { screen: 'filters', label: 'Filters', icon: 'route' },
  { screen: 'security', label: 'Password and sign-in', icon: 'shield' },
  { screen: 'appPasswords', label: 'App passwords', icon: 'key' },
  { screen: 'device', label: 'Set up a device', icon: 'phone' },
]

/** The frame of all screens: on a phone the navigation opens below the header. */
export function OwnerLayout({ mailbox, path, children }: { mailbox: OwnMailbox; path: string; children: ReactNode }) {
  const [isMenuOpen, setMenuOpen] = useState(false)
  const menuButton = useRef<HTMLButtonElement>(null)
  const signOut = useSignOut()
  useEffect(() => setMenuOpen(false), [path])
  useEffect(() => {
    if (!isMenuOpen) return
    function closeOnEscape(event: KeyboardEvent) {
      if (event.key !== 'Escape') return
      setMenuOpen(false)
      menuButton.current?.focus()
    }
    addEventListener('keydown', closeOnEscape)
    return () => removeEventListener('keydown', closeOnEscape)
  }, [isMenuOpen])
  return (
    <div className="frame">
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header className="top">
        <ActionIcon
          ref={menuButton}
          className="top-menu"
          variant="subtle"
          color="gray"
          size="lg"
          aria-label="Menu"
          aria-expanded={isMenuOpen}
          aria-controls="screens"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          <Icon name={isMenuOpen ? 'cross' : 'menu'} />
        </ActionIcon>
        <div className="brand">
          <Logo /> <span className="own-address">{mailbox.address}</span>
        </div>
        <ThemeSwitch />
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label="Sign out"
          title="Sign out"
          loading={signOut.isPending}
          onClick={() => signOut.mutate(undefined)}
        >
          <Icon name="out" />
        </ActionIcon>
      </header>
      <aside id="screens" className={isMenuOpen ? 'side side-open' : 'side'}>
        <nav aria-label="Screens">
          <ul>
            {ENTRIES.map(({ screen, label, icon }) => (
              <li key={screen}>
                <OwnerLink
                  href={OWNER_PATHS[screen]}
                  className={OWNER_PATHS[screen] === path ? 'nav-link active' : 'nav-link'}
                  isCurrent={OWNER_PATHS[screen] === path}
                >
                  <Icon name={icon} size={18} /> {label}
                </OwnerLink>
              </li>
            ))}
          </ul>
        </nav>
      </aside>
      <main id="content" tabIndex={-1}>
        <ErrorBar error={signOut.error} />
        <div className="content" data-screen={path}>
          {children}
        </div>
      </main>
    </div>
  )
}
