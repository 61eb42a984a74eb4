import { type MouseEvent, type ReactNode, useCallback, useEffect, useRef, useSyncExternalStore } from 'react'
import { clearCaches } from '../api/queries'
import { formatSearch, parseSearch } from '../search'
import type { BlockerOptions, Navigation, Params } from '../ui/navigation'
import { OWNER_PATHS } from './paths'

/**
 * The router of the page for mailbox owners. Its paths have no parameters: a fifth of the page would be the dashboard's
 * router.
 */

let shown = location.href
const listeners = new Set<() => void>()
const blockers = new Set<{ current: BlockerOptions }>()
/** Each entry of the browser's history has its number, so that a move back or forward can be taken back. */
let index = numberOf(history.state)
/** The next `popstate` is a move of `move`. */
let isOwnMove = false

function numberOf(state: unknown): number {
  return typeof state === 'object' && state !== null && 'index' in state ? Number(state.index) : 0
}

function show(): void {
  shown = location.href
  index = numberOf(history.state)
  listeners.forEach((listener) => listener())
}

async function mayLeave(path: string): Promise<boolean> {
  for (const blocker of blockers) if (await blocker.current.shouldBlock(path)) return false
  return true
}

/** Opens a screen. */
export async function openPath(href: string, options: { replace?: boolean } = {}): Promise<void> {
  if (!(await mayLeave(new URL(href, location.href).pathname))) return
  if (options.replace) history.replaceState({ index }, '', href)
  else history.pushState({ index: index + 1 }, '', href)
  window.scrollTo(0, 0)
  show()
}

function losesInput(): boolean {
  return [...blockers].some(({ current }) => current.isDirty())
}

addEventListener('popstate', (event: PopStateEvent) => {
  const steps = numberOf(event.state) - index
  if (isOwnMove || steps === 0 || !losesInput()) {
    isOwnMove = false
    show()
  } else void askFirst(steps, location.pathname)
})

/** The browser has moved already: takes it back until the user has answered. */
async function askFirst(steps: number, path: string): Promise<void> {
  await move(-steps)
  if (await mayLeave(path)) await move(steps)
}

function move(steps: number): Promise<void> {
  return new Promise((resolve) => {
    isOwnMove = true
    addEventListener('popstate', () => resolve(), { once: true })
    history.go(steps)
  })
}

addEventListener('beforeunload', (event: BeforeUnloadEvent) => {
  if (losesInput()) event.preventDefault()
})

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function useUrl(): URL {
  return new URL(useSyncExternalStore(subscribe, () => shown))
}

async function changeParams(changes: Params): Promise<void> {
  if (!(await mayLeave(location.pathname))) return
  const search = formatSearch({ ...parseSearch(location.search), ...changes })
  history.replaceState({ index }, '', location.pathname + search)
  show()
}

/** A link to a screen. */
export function OwnerLink(props: { href: string; className?: string; isCurrent?: boolean; children: ReactNode }) {
  function open(event: MouseEvent) {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    void openPath(props.href)
  }
  return (
    <a href={props.href} className={props.className} aria-current={props.isCurrent ? 'page' : undefined} onClick={open}>
      {props.children}
    </a>
  )
}

export const ownerNavigation: Navigation = {
  signInPath: OWNER_PATHS.signIn,
  usePath: () => useUrl().pathname,
  useSearchParams: () => [parseSearch(useUrl().search), (changes) => void changeParams(changes)],
  useBlocker(options) {
    const blocker = useRef(options)
    blocker.current = options
    useEffect(() => {
      blockers.add(blocker)
      return () => void blockers.delete(blocker)
    }, [])
  },
  useLeave: () =>
    useCallback(() => {
      clearCaches()
      void openPath(OWNER_PATHS.signIn)
    }, []),
  Link: OwnerLink,
}
