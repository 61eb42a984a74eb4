import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../api/queries'
import { PATHS } from '../paths'
import { EmptyState } from '../ui/Empty'
import { Logo } from '../ui/Icon'
import { Layout } from './Layout'
import { LinkButton } from '../ui/links'
import { Page } from '../ui/Page'

/** The page of an unknown path: inside the layout if signed in, alone otherwise. */
export function NotFound() {
  const account = useQuery({ ...accountQuery(), retry: false })
  if (account.isPending) return null
  if (account.data)
    return (
      <Layout>
        <Page title="Page not found">
          <div className="card">
            <NothingHere to={PATHS.overview} label="Go to the overview" />
          </div>
        </Page>
      </Layout>
    )
  return (
    <main className="sign-in">
      <title>Page not found · Mailkeep</title>
      <div className="card sign-in-card">
        <header className="sign-in-head">
          <Logo size={40} />
          <h1>Page not found</h1>
        </header>
        <NothingHere to={PATHS.login} label="Sign in" />
      </div>
    </main>
  )
}

function NothingHere({ to, label }: { to: '/' | '/login'; label: string }) {
  return (
    <EmptyState icon="search" title="This page does not exist" action={<LinkButton to={to}>{label}</LinkButton>}>
      There is no page at <code>{location.pathname}</code>. Check the address.
    </EmptyState>
  )
}
