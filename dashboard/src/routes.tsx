import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router'
import { isLoggedOut } from './api/errors'
import { me, queryClient, version } from './api/queries'
import { PATHS } from './paths'
import { LIST, readSearch, search, writeSearch } from './search'
import { Broken } from './ui/Broken'
import { Layout } from './ui/Layout'
import { NotFound } from './ui/NotFound'

const root = createRootRoute({ component: Outlet, errorComponent: Broken, notFoundComponent: NotFound })

const login = createRoute({
  getParentRoute: () => root,
  path: PATHS.login,
  validateSearch: search('next', 'error', 'reason'),
  component: lazyRouteComponent(() => import('./screens/Login'), 'Login'),
})

/** Everything that needs a session. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: () => <Layout />,
  errorComponent: Broken,
  beforeLoad: async ({ location }) => {
    try {
      // Beside it, since the screens differ by what the instance is; where that is not told, they ask and see.
      const what = queryClient.ensureQueryData(version()).catch(() => null)
      const account = await queryClient.ensureQueryData(me())
      await what
      if (account.second_factor_required && location.pathname !== PATHS.account) throw redirect({ to: PATHS.account })
    } catch (error) {
      if (!isLoggedOut(error)) throw error
      throw redirect({ to: PATHS.login, search: location.href === '/' ? {} : { next: location.href } })
    }
  },
})

const overview = createRoute({
  getParentRoute: () => inside,
  path: PATHS.overview,
  component: lazyRouteComponent(() => import('./screens/Overview'), 'Overview'),
})

const start = createRoute({
  getParentRoute: () => inside,
  path: PATHS.start,
  component: lazyRouteComponent(() => import('./screens/Start'), 'Start'),
})

const domains = createRoute({
  getParentRoute: () => inside,
  path: PATHS.domains,
  validateSearch: search('q', 'active', 'new', ...LIST),
  component: lazyRouteComponent(() => import('./screens/Domains'), 'Domains'),
})

const domain = createRoute({
  getParentRoute: () => inside,
  path: PATHS.domain,
  component: lazyRouteComponent(() => import('./screens/Domain'), 'Domain'),
})

const mailboxes = createRoute({
  getParentRoute: () => inside,
  path: PATHS.mailboxes,
  validateSearch: search('q', 'domain', 'active', 'trashed', 'new', ...LIST),
  component: lazyRouteComponent(() => import('./screens/Mailboxes'), 'Mailboxes'),
})

const mailbox = createRoute({
  getParentRoute: () => inside,
  path: PATHS.mailbox,
  component: lazyRouteComponent(() => import('./screens/Mailbox'), 'Mailbox'),
})

const aliases = createRoute({
  getParentRoute: () => inside,
  path: PATHS.aliases,
  validateSearch: search('domain', 'new', 'edit', ...LIST),
  component: lazyRouteComponent(() => import('./screens/Aliases'), 'Aliases'),
})

const routing = createRoute({
  getParentRoute: () => inside,
  path: PATHS.routing,
  validateSearch: search('address'),
  component: lazyRouteComponent(() => import('./screens/Routing'), 'Routing'),
})

const send = createRoute({
  getParentRoute: () => inside,
  path: PATHS.send,
  validateSearch: search('from', 'to', 'subject'),
  component: lazyRouteComponent(() => import('./screens/Send'), 'Send'),
})

const messages = createRoute({
  getParentRoute: () => inside,
  path: PATHS.messages,
  validateSearch: search('q', 'direction', 'status', 'domain', 'from', 'to', 'subject', 'message_id', 'queue_id', 'tag', 'since', 'until', ...LIST),
  component: lazyRouteComponent(() => import('./screens/Messages'), 'Messages'),
})

const message = createRoute({
  getParentRoute: () => inside,
  path: PATHS.message,
  component: lazyRouteComponent(() => import('./screens/Message'), 'Message'),
})

const queue = createRoute({
  getParentRoute: () => inside,
  path: PATHS.queue,
  validateSearch: search('queue_id', 'state', 'sender', 'recipient', 'domain', 'since', 'until', 'shown', ...LIST),
  component: lazyRouteComponent(() => import('./screens/Queue'), 'Queue'),
})

const suspensions = createRoute({
  getParentRoute: () => inside,
  path: PATHS.suspensions,
  validateSearch: search('domain', ...LIST),
  component: lazyRouteComponent(() => import('./screens/Suspensions'), 'Suspensions'),
})

const account = createRoute({
  getParentRoute: () => inside,
  path: PATHS.account,
  component: lazyRouteComponent(() => import('./screens/Account'), 'Account'),
})

const keys = createRoute({
  getParentRoute: () => inside,
  path: PATHS.keys,
  validateSearch: search('new', ...LIST),
  component: lazyRouteComponent(() => import('./screens/Keys'), 'Keys'),
})

const webhooks = createRoute({
  getParentRoute: () => inside,
  path: PATHS.webhooks,
  validateSearch: search('new', ...LIST),
  component: lazyRouteComponent(() => import('./screens/Webhooks'), 'Webhooks'),
})

const webhook = createRoute({
  getParentRoute: () => inside,
  path: PATHS.webhook,
  validateSearch: search('state', 'kind', ...LIST),
  component: lazyRouteComponent(() => import('./screens/Webhook'), 'Webhook'),
})

const events = createRoute({
  getParentRoute: () => inside,
  path: PATHS.events,
  validateSearch: search('kind', 'domain', 'paused'),
  component: lazyRouteComponent(() => import('./screens/Live'), 'Live'),
})

const sandbox = createRoute({
  getParentRoute: () => inside,
  path: PATHS.sandbox,
  validateSearch: search(...LIST),
  component: lazyRouteComponent(() => import('./screens/Sandbox'), 'Sandbox'),
})

const caught = createRoute({
  getParentRoute: () => inside,
  path: PATHS.caught,
  validateSearch: search('view'),
  component: lazyRouteComponent(() => import('./screens/Caught'), 'Caught'),
})

const admins = createRoute({
  getParentRoute: () => inside,
  path: PATHS.admins,
  validateSearch: search('new', ...LIST),
  component: lazyRouteComponent(() => import('./screens/Admins'), 'Admins'),
})

const audit = createRoute({
  getParentRoute: () => inside,
  path: PATHS.audit,
  validateSearch: search('action', 'admin', 'resource', 'domain', 'age', 'at', ...LIST),
  component: lazyRouteComponent(() => import('./screens/Audit'), 'Audit'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    inside.addChildren([overview, start, domains, domain, mailboxes, mailbox, aliases, routing, send, messages, message, queue, suspensions, account, keys, webhooks, webhook, events, sandbox, caught, admins, audit]),
  ]),
  parseSearch: readSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  // An unknown address below a screen's is as unknown as any other.
  notFoundMode: 'root',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
  interface HistoryState {
    /** The cursors of the pages before this one in a list. */
    trail?: readonly string[]
  }
}
