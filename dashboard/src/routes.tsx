import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { PATHS } from './paths'
import { invitation, login, password, root, signedIn } from './rootRoutes'
import { LIST_PARAMS, parseSearch, stringParams, formatSearch } from './search'

/** Of the views of filtering, which are tabs of several screens. */
const FILTERING_PARAMS = ['view', 'q', 'list', 'kind', 'new', 'import', 'message', 'source'] as const

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.overview,
  component: lazyRouteComponent(() => import('./screens/overview/Overview'), 'Overview'),
})

const start = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.start,
  component: lazyRouteComponent(() => import('./screens/overview/FirstSteps'), 'FirstSteps'),
})

const domains = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.domains,
  validateSearch: stringParams('q', 'active', 'dns_status', 'new', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/domains/Domains'), 'Domains'),
})

const domain = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.domain,
  validateSearch: stringParams('tab', 'period', ...FILTERING_PARAMS, ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/domains/Domain'), 'Domain'),
})

const serverDns = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.serverDns,
  component: lazyRouteComponent(() => import('./screens/dns/ServerDns'), 'ServerDns'),
})

const mailboxes = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.mailboxes,
  validateSearch: stringParams('q', 'domain', 'active', 'trashed', 'new', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/mailboxes/Mailboxes'), 'Mailboxes'),
})

const mailbox = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.mailbox,
  validateSearch: stringParams('tab', 'script', 'show', ...FILTERING_PARAMS, ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/mailboxes/Mailbox'), 'Mailbox'),
})

const aliases = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.aliases,
  validateSearch: stringParams('q', 'domain', 'new', 'edit', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/aliases/Aliases'), 'Aliases'),
})

const mailboxImport = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.mailboxImport,
  component: lazyRouteComponent(() => import('./screens/bulk/Import'), 'ImportMailboxes'),
})

const aliasImport = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.aliasImport,
  component: lazyRouteComponent(() => import('./screens/bulk/Import'), 'ImportAliases'),
})

const routing = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.routing,
  validateSearch: stringParams('address'),
  component: lazyRouteComponent(() => import('./screens/routing/Routing'), 'Routing'),
})

const send = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.send,
  validateSearch: stringParams('from', 'to', 'subject', 'template'),
  component: lazyRouteComponent(() => import('./screens/send/Send'), 'Send'),
})

const templates = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.templates,
  validateSearch: stringParams('q', 'domain', 'new', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/templates/Templates'), 'Templates'),
})

const template = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.template,
  validateSearch: stringParams('tab', 'version', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/templates/Template'), 'Template'),
})

const messages = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.messages,
  validateSearch: stringParams(
    'q',
    'direction',
    'status',
    'domain',
    'from',
    'to',
    'subject',
    'message_id',
    'queue_id',
    'tag',
    'provider',
    'class',
    'key',
    'since',
    'until',
    ...LIST_PARAMS,
  ),
  component: lazyRouteComponent(() => import('./screens/messages/Messages'), 'Messages'),
})

const message = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.message,
  validateSearch: stringParams('tab'),
  component: lazyRouteComponent(() => import('./screens/messages/Message'), 'Message'),
})

const queue = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.queue,
  validateSearch: stringParams('queue_id', 'state', 'sender', 'recipient', 'domain', 'since', 'until', 'shown', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/queue/Queue'), 'Queue'),
})

const suppressions = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.suppressions,
  validateSearch: stringParams('q', 'domain', 'reason', 'group', 'new', 'import', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/suppressions/Suppressions'), 'Suppressions'),
})

const unsubscribeGroups = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.unsubscribeGroups,
  validateSearch: stringParams('domain', 'new', 'edit', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/suppressions/UnsubscribeGroups'), 'UnsubscribeGroups'),
})

const certificates = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.certificates,
  validateSearch: stringParams(...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/certificates/Certificates'), 'Certificates'),
})

const analytics = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.analytics,
  validateSearch: stringParams('period', 'domain', 'provider', 'tag', 'key'),
  component: lazyRouteComponent(() => import('./screens/analytics/Analytics'), 'Analytics'),
})

const abuse = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.abuse,
  validateSearch: stringParams('domain'),
  component: lazyRouteComponent(() => import('./screens/abuse/AbuseOverview'), 'AbuseOverview'),
})

const alerts = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.alerts,
  validateSearch: stringParams('domain', 'state', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/abuse/Alerts'), 'Alerts'),
})

const suspensions = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.suspensions,
  validateSearch: stringParams('domain', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/suspensions/Suspensions'), 'Suspensions'),
})

const signInBlocks = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.signInBlocks,
  validateSearch: stringParams(...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/signInBlocks/SignInBlocks'), 'SignInBlocks'),
})

const incidents = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.incidents,
  validateSearch: stringParams('domain', 'state', 'new', 'type', 'subject', 'address', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/incidents/Incidents'), 'Incidents'),
})

const incident = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.incident,
  component: lazyRouteComponent(() => import('./screens/incidents/IncidentDetails'), 'IncidentDetails'),
})

const health = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.health,
  validateSearch: stringParams(...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/health/Health'), 'Health'),
})

const account = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.account,
  component: lazyRouteComponent(() => import('./screens/account/Account'), 'Account'),
})

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.keys,
  validateSearch: stringParams('new', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/api-keys/ApiKeys'), 'ApiKeys'),
})

const webhooks = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.webhooks,
  validateSearch: stringParams('new', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/webhooks/Webhooks'), 'Webhooks'),
})

const webhook = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.webhook,
  validateSearch: stringParams('tab', 'state', 'kind', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/webhooks/Webhook'), 'Webhook'),
})

const events = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.events,
  validateSearch: stringParams('kind', 'domain', 'paused'),
  component: lazyRouteComponent(() => import('./screens/events/Events'), 'Events'),
})

const sandbox = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.sandbox,
  validateSearch: stringParams(...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/sandbox/Sandbox'), 'Sandbox'),
})

const sandboxMessage = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.sandboxMessage,
  validateSearch: stringParams('view'),
  component: lazyRouteComponent(() => import('./screens/sandbox/SandboxMessage'), 'SandboxMessage'),
})

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.settings,
  validateSearch: stringParams('tab', 'q', 'section', 'show', 'operation'),
  component: lazyRouteComponent(() => import('./screens/settings/Settings'), 'Settings'),
})

const services = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.services,
  validateSearch: stringParams('tab', 'operation'),
  component: lazyRouteComponent(() => import('./screens/services/Services'), 'Services'),
})

const filtering = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.filtering,
  validateSearch: stringParams('tab', ...FILTERING_PARAMS, ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/filtering/Filtering'), 'Filtering'),
})

const backups = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.backups,
  validateSearch: stringParams('tab', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/backups/Backups'), 'Backups'),
})

const backup = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.backup,
  validateSearch: stringParams('domain', 'mailbox', 'message_id', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/backups/BackupDetails'), 'BackupDetails'),
})

const admins = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.admins,
  validateSearch: stringParams('new', 'edit', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/admins/Admins'), 'Admins'),
})

const audit = createRoute({
  getParentRoute: () => signedIn,
  path: PATHS.audit,
  validateSearch: stringParams('action', 'admin', 'resource', 'domain', 'age', ...LIST_PARAMS),
  component: lazyRouteComponent(() => import('./screens/audit/AuditLog'), 'AuditLog'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    invitation,
    password,
    signedIn.addChildren([
      overview,
      start,
      domains,
      domain,
      serverDns,
      mailboxes,
      mailboxImport,
      mailbox,
      aliases,
      aliasImport,
      routing,
      send,
      templates,
      template,
      messages,
      message,
      queue,
      suppressions,
      unsubscribeGroups,
      analytics,
      abuse,
      alerts,
      suspensions,
      signInBlocks,
      incidents,
      incident,
      health,
      certificates,
      account,
      keys,
      webhooks,
      webhook,
      events,
      sandbox,
      sandboxMessage,
      settings,
      services,
      filtering,
      backups,
      backup,
      admins,
      audit,
    ]),
  ]),
  parseSearch,
  stringifySearch: formatSearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  // Unknown paths below a screen get the same page as other unknown paths.
  notFoundMode: 'root',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
