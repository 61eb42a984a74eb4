/** The path of every screen. The server answers each with index.html; `$name` is a path parameter. */
export const PATHS = {
  overview: '/',
  login: '/login',
  start: '/start',
  domains: '/domains',
  domain: '/domains/$id',
  mailboxes: '/mailboxes',
  mailbox: '/mailboxes/$id',
  aliases: '/aliases',
  routing: '/routing',
  send: '/send',
  messages: '/messages',
  message: '/messages/$id',
  queue: '/queue',
  suspensions: '/suspensions',
  account: '/account',
  keys: '/api-keys',
  webhooks: '/webhooks',
  webhook: '/webhooks/$id',
  events: '/events',
  sandbox: '/sandbox',
  sandboxMessage: '/sandbox/$id',
  settings: '/settings',
  admins: '/admins',
  audit: '/audit',
} as const

export type ScreenName = keyof typeof PATHS
