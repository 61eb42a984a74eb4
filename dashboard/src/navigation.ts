import type { ScreenName } from './paths'
import type { Action } from './policy'
import type { IconName } from './ui/Icon'

export interface Entry {
  screen: ScreenName
  label: string
  icon: IconName
  /** What the screen needs to show anything at all. */
  action: Action
  /** Pressed after `g`. */
  key?: string
  /** Other words that people look for it by. */
  words?: string
  /** Only where this profile runs. */
  only?: 'embedded' | 'full'
}

export interface Group {
  title: string
  entries: readonly Entry[]
}

/** What the side shows, and the command palette finds. */
export const NAVIGATION: readonly Group[] = [
  {
    title: 'Mail',
    entries: [
      { screen: 'overview', label: 'Overview', icon: 'home', action: 'account.read', key: 'o', words: 'home start dashboard' },
      { screen: 'domains', label: 'Domains', icon: 'globe', action: 'domain.list', key: 'd', words: 'dns dkim' },
      { screen: 'mailboxes', label: 'Mailboxes', icon: 'inbox', action: 'mailbox.list', key: 'm', words: 'accounts users quota' },
      { screen: 'aliases', label: 'Aliases', icon: 'branch', action: 'alias.list', key: 'a', words: 'forward catch-all' },
      { screen: 'routing', label: 'Where mail goes', icon: 'route', action: 'routing.explain', key: 'r', words: 'routing explain' },
      { screen: 'messages', label: 'Messages', icon: 'mail', action: 'message.list', key: 'h', words: 'history log search' },
      { screen: 'queue', label: 'Queue', icon: 'queue', action: 'queue.list', key: 'q', words: 'postfix waiting deferred flush hold', only: 'full' },
      { screen: 'send', label: 'Send', icon: 'send', action: 'send', key: 's', words: 'compose write' },
      { screen: 'suspensions', label: 'Suspensions', icon: 'pause', action: 'suspension.list', key: 'u', words: 'abuse blocked' },
    ],
  },
  {
    title: 'Developers',
    entries: [
      { screen: 'keys', label: 'API keys', icon: 'key', action: 'api_key.list', key: 'k', words: 'token secret bearer' },
      { screen: 'webhooks', label: 'Webhooks', icon: 'hook', action: 'webhook.list', key: 'w', words: 'deliveries replay' },
      { screen: 'events', label: 'Live events', icon: 'pulse', action: 'event.list', key: 'e', words: 'stream feed follow' },
      { screen: 'sandbox', label: 'Sandbox inbox', icon: 'box', action: 'sandbox', key: 'b', words: 'caught test mail', only: 'embedded' },
    ],
  },
  {
    title: 'Owners',
    entries: [
      { screen: 'admins', label: 'Administrators', icon: 'people', action: 'admin.list', key: 'i', words: 'roles users assignments' },
      { screen: 'audit', label: 'Audit log', icon: 'scroll', action: 'audit.list', key: 'l', words: 'history changes verify' },
    ],
  },
  {
    title: 'You',
    entries: [
      { screen: 'account', label: 'Your account', icon: 'person', action: 'account.read', key: 'y', words: 'password totp sessions passkey' },
      { screen: 'start', label: 'First steps', icon: 'flag', action: 'account.read', words: 'guide onboarding tour' },
    ],
  },
]
