import { type ComponentType, createContext, type ReactNode, useContext } from 'react'

export type Params = Readonly<Record<string, string | undefined>>

/**
 * What the components of all screens need of a router: the dashboard's is TanStack Router (layout/routerNavigation.tsx), that of
 * the page for mailbox owners is smaller (me/router.tsx).
 */
export interface Navigation {
  /** The path of the sign-in screen. */
  signInPath: string
  /** The path of the screen. */
  usePath: () => string
  /** The query parameters of the screen, and a function that changes some of them. */
  useSearchParams: () => [Params, (changes: Params) => void]
  /** Asks before the screen is left, by a link, the browser's buttons or (with its own question) by closing the page. */
  useBlocker: (options: BlockerOptions) => void
  /** A function that forgets the data of the session and opens the sign-in screen. */
  useLeave: () => () => void
  Link: ComponentType<{ href: string; children: ReactNode }>
}

export interface BlockerOptions {
  /** Whether to stay, given the path of the next screen. */
  shouldBlock: (path: string) => boolean | Promise<boolean>
  /** Whether closing the page would lose input. */
  isDirty: () => boolean
}

export const NavigationContext = createContext<Navigation | null>(null)

export function useNavigation(): Navigation {
  const navigation = useContext(NavigationContext)
  if (!navigation) throw new Error('No NavigationContext.')
  return navigation
}
