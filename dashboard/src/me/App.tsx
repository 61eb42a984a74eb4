import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Component, type ComponentType, lazy, type ReactNode, Suspense, useEffect } from 'react'
import { clearCaches } from '../api/queries'
import { isSignedOut } from '../api/errors'
import { LoadingLines } from '../ui/DataList'
import { EmptyState } from '../ui/Empty'
import { ErrorNote } from '../ui/ErrorNote'
import { useNavigation } from '../ui/navigation'
import { Page } from '../ui/Page'
import { useSignOut } from '../ui/useSignOut'
import { OwnerLayout } from './OwnerLayout'
import { OWNER_PATHS, type OwnerScreen } from './paths'
import { Overview } from './Overview'
import { type OwnMailbox, ownMailboxQuery } from './requests'
import { openPath, OwnerLink } from './router'
import { SignIn } from './SignIn'

type Screen = ComponentType<{ mailbox: OwnMailbox }>

const SCREENS: Readonly<Record<Exclude<OwnerScreen, 'signIn'>, Screen>> = {
  overview: Overview,
  junk: lazy(() => import('./OwnJunk')),
  spam: lazy(() => import('./Spam')),
  mail: lazy(() => import('./Mail')),
  vacation: lazy(() => import('./Vacation')),
  forwarding: lazy(() => import('./Forwarding')),
  filters: lazy(() => import('./Filters')),
  security: lazy(() => import('./Security')),
  appPasswords: lazy(() => import('./OwnAppPasswords')),
  device: lazy(() => import('./Device')),
}

/** The page of a mailbox's owner. */
export function App() {
  const path = useNavigation().usePath()
  return path === OWNER_PATHS.signIn ? <SignIn /> : <SignedIn path={path} />
}

function SignedIn({ path }: { path: string }) {
  const { data, error } = useQuery(ownMailboxQuery())
  const isOut = isSignedOut(error)
  useEffect(() => {
    if (isOut) signInAgain()
  }, [isOut])
  useEffect(() => {
    window.addEventListener('mailkeep:logged-out', signInAgain)
    return () => window.removeEventListener('mailkeep:logged-out', signInAgain)
  }, [])
  if (error && !data && !isOut) return <NotAvailable error={error} />
  if (!data) return <LoadingPage />
  const name = (Object.keys(SCREENS) as (keyof typeof SCREENS)[]).find((each) => OWNER_PATHS[each] === path)
  const Shown = name ? SCREENS[name] : NotFound
  return (
    <OwnerLayout mailbox={data} path={path}>
      <ErrorBoundary key={path}>
        <Suspense fallback={<LoadingLines />}>
          <Shown mailbox={data} />
        </Suspense>
      </ErrorBoundary>
    </OwnerLayout>
  )
}

/** The session has ended: opens the sign-in screen, which returns to this screen afterwards. */
function signInAgain(): void {
  const next = location.pathname + location.search
  clearCaches()
  void openPath(next === OWNER_PATHS.overview ? OWNER_PATHS.signIn : `${OWNER_PATHS.signIn}?next=${encodeURIComponent(next)}`)
}

function LoadingPage() {
  return (
    <main className="content">
      <LoadingLines />
    </main>
  )
}

/** Shown when the server does not answer, or does not allow the owner to use the page any more. */
function NotAvailable({ error }: { error: Error }) {
  const signOut = useSignOut()
  return (
    <main className="screen-error">
      <title>Your mailbox · Mailkeep</title>
      <h1>Your mailbox is not available here</h1>
      <ErrorNote error={error} />
      <div className="row">
        <Button onClick={() => location.reload()}>Try again</Button>
        <Button variant="default" loading={signOut.isPending} onClick={() => signOut.mutate(undefined)}>
          Sign out
        </Button>
      </div>
    </main>
  )
}

function NotFound() {
  return (
    <Page title="Page not found">
      <div className="card">
        <EmptyState icon="search" title="This page does not exist" action={<OwnerLink href={OWNER_PATHS.overview}>Overview</OwnerLink>}>
          There is no page at <code>{location.pathname}</code>. Check the address.
        </EmptyState>
      </div>
    </Page>
  )
}

/** Shows the error of a screen that failed to load or to render. */
class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    if (!this.state.error) return this.props.children
    return (
      <div className="screen-error">
        <h1>This screen failed to load</h1>
        <ErrorNote error={this.state.error} />
        <Button onClick={() => location.reload()}>Reload</Button>
      </div>
    )
  }
}
