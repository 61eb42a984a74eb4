import { useQuery } from '@tanstack/react-query'
import { Link, useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useUnavailableReason } from '../access/account'
import { versionQuery } from '../api/queries'
import { limitOpenGroups, NAVIGATION, type NavigationEntry } from '../navigation'
import { PATHS, type ScreenName } from '../paths'
import { Icon } from '../ui/Icon'

/** The entry of the screen at this path. */
export function findEntry(path: string): NavigationEntry | undefined {
  return NAVIGATION.flatMap((group) => group.entries).find(({ screen }) => PATHS[screen] === `/${path.split('/')[1]}`)
}

/** The sidebar: groups of screens. Opening a group closes the least recently opened one if there is no room. */
export function Navigation() {
  const unavailableReason = useUnavailableReason()
  const path = useRouterState({ select: (state) => state.location.pathname })
  const groups = NAVIGATION.map((group) => ({
    ...group,
    entries: group.entries.filter((entry) => !entry.tabOf && !unavailableReason(entry)),
  })).filter((group) => group.entries.length > 0)
  const current = findEntry(path)
  const currentScreen = current?.tabOf ?? current?.screen
  const currentGroup = groups.find((group) => group.entries.some(({ screen }) => screen === currentScreen))?.title
  const [open, setOpen] = useState<readonly string[]>(['Mail', 'Directory'])
  const toggle = (title: string, isOpen: boolean) =>
    setOpen((before) => limitOpenGroups([...(isOpen ? [title] : []), ...before.filter((each) => each !== title)], groups))
  useEffect(() => {
    if (currentGroup) toggle(currentGroup, true)
  }, [currentGroup])
  return (
    <nav aria-label="Screens">
      {groups.map((group) => {
        const isOpen = !group.title || open.includes(group.title)
        return (
          <div className="nav-group" key={group.title}>
            {group.title && (
              <h2>
                <button type="button" className="nav-title" aria-expanded={isOpen} onClick={() => toggle(group.title, !isOpen)}>
                  {group.title} <Icon name={isOpen ? 'down' : 'right'} size={12} />
                </button>
              </h2>
            )}
            {isOpen && (
              <ul>
                {group.entries.map((entry) => (
                  <li key={entry.screen}>
                    <Link
                      to={PATHS[entry.screen]}
                      className={entry.screen === currentScreen ? 'nav-link active' : 'nav-link'}
                      activeOptions={{ exact: entry.screen === 'overview', includeSearch: false }}
                    >
                      <Icon name={entry.icon} /> {entry.label}
                    </Link>
                  </li>
                ))}
              </ul>
            )}
          </div>
        )
      })}
      <Footer />
    </nav>
  )
}

function Footer() {
  const { data } = useQuery(versionQuery())
  return (
    <p className="nav-foot">
      <a href="/docs">Documentation</a> {data && <span>Mailkeep {data.version}</span>}
    </p>
  )
}

/** Links between the screens that form one entry of the sidebar, `first` to its own; nothing if only one of them is available. */
export function SiblingTabs({ screen, label, first = 'All' }: { screen: ScreenName; label: string; first?: string }) {
  const unavailableReason = useUnavailableReason()
  const path = useRouterState({ select: (state) => state.location.pathname })
  const siblings = NAVIGATION.flatMap((group) => group.entries).filter((entry) => entry.tabOf === screen && !unavailableReason(entry))
  if (siblings.length === 0) return null
  const current = findEntry(path)?.screen
  return (
    <nav className="tab-links" aria-label={label}>
      {[{ screen, label: first }, ...siblings].map((entry) => (
        <Link key={entry.screen} to={PATHS[entry.screen]} className={entry.screen === current ? 'tab-link active' : 'tab-link'}>
          {entry.label}
        </Link>
      ))}
    </nav>
  )
}
