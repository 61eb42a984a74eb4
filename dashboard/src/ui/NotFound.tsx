import { useQuery } from '@tanstack/react-query'
import { me } from '../api/queries'
import { PATHS } from '../paths'
import { Empty } from './Empty'
import { Logo } from './Icon'
import { Layout } from './Layout'
import { LinkButton } from './links'
import { Page } from './Page'

/** An address that is no screen: within the frame for those who are signed in, alone for others. */
export function NotFound() {
  const account = useQuery({ ...me(), retry: false })
  if (account.isPending) return null
  if (account.data)
    return (
      <Layout>
        <Page title="Page not found">
          <div className="card">
            <Nothing to={PATHS.overview} label="Go to the overview" />
          </div>
        </Page>
      </Layout>
    )
  return (
    <main className="door">
      <title>Page not found · Mailkeep</title>
      <div className="card door-card">
        <header className="door-head">
          <Logo size={40} />
          <h1>Page not found</h1>
        </header>
        <Nothing to={PATHS.login} label="Sign in" />
      </div>
    </main>
  )
}

function Nothing({ to, label }: { to: '/' | '/login'; label: string }) {
  return (
    <Empty icon="search" title="Nothing is at this address" action={<LinkButton to={to}>{label}</LinkButton>}>
      <code>{location.pathname}</code> is not a page of Mailkeep. The address may be misspelled, or the page has moved.
    </Empty>
  )
}
