import type { Action } from './access/policy'
import type { ScreenName } from './paths'
import type { IconName } from './ui/Icon'

export interface NavigationEntry {
  screen: ScreenName
  label: string
  icon: IconName
  /** The permission without which the screen shows nothing. */
  action: Action
  /** Pressed after `g`. */
  key?: string
  /** Other search terms. */
  keywords?: string
  /** Only available in this profile. */
  profile?: 'embedded' | 'full'
  /** A tab of this screen, not an entry of the sidebar. */
  tabOf?: ScreenName
}

export interface NavigationGroup {
  /** Empty: always visible, above the groups. */
  title: string
  entries: readonly NavigationEntry[]
}

/** The screens in the sidebar and the command palette. */
export const NAVIGATION: readonly NavigationGroup[] = [
  {
    title: '',
    entries: [{ screen: 'overview', label: 'Overview', icon: 'home', action: 'account.read', key: 'o', keywords: 'home start dashboard' }],
  },
  {
    title: 'Mail',
    entries: [
      { screen: 'messages', label: 'Messages', icon: 'mail', action: 'message.list', key: 'h', keywords: 'history log search' },
      {
        screen: 'queue',
        label: 'Queue',
        icon: 'queue',
        action: 'queue.list',
        key: 'q',
        keywords: 'postfix waiting deferred flush hold',
        profile: 'full',
        tabOf: 'messages',
      },
      { screen: 'send', label: 'Send', icon: 'send', action: 'send', key: 's', keywords: 'compose write' },
      { screen: 'templates', label: 'Templates', icon: 'code', action: 'template.list', key: 'j', keywords: 'jinja variables html' },
      {
        screen: 'suppressions',
        label: 'Suppressions',
        icon: 'cross',
        action: 'suppression.list',
        key: 'p',
        keywords: 'bounce complaint unsubscribe block list',
      },
      {
        screen: 'unsubscribeGroups',
        label: 'Unsubscribe groups',
        icon: 'people',
        action: 'unsubscribe_group.list',
        keywords: 'list-unsubscribe newsletter one click',
        tabOf: 'suppressions',
      },
    ],
  },
  {
    title: 'Directory',
    entries: [
      { screen: 'domains', label: 'Domains', icon: 'globe', action: 'domain.list', key: 'd', keywords: 'dns dkim' },
      {
        screen: 'serverDns',
        label: 'Server’s DNS',
        icon: 'globe',
        action: 'dns_server.read',
        key: 'z',
        keywords: 'records reverse ptr blocklists dnsbl hostname addresses caa dnssec tlsa',
        tabOf: 'domains',
      },
      {
        screen: 'certificates',
        label: 'Certificates',
        icon: 'shield',
        action: 'certificate.read',
        key: 'x',
        keywords: 'tls ssl acme letsencrypt expiry renew revoke sni',
        profile: 'full',
        tabOf: 'domains',
      },
      { screen: 'mailboxes', label: 'Mailboxes', icon: 'inbox', action: 'mailbox.list', key: 'm', keywords: 'accounts users quota' },
      { screen: 'aliases', label: 'Aliases', icon: 'branch', action: 'alias.list', key: 'a', keywords: 'forward catch-all' },
      { screen: 'routing', label: 'Routing', icon: 'route', action: 'routing.explain', key: 'r', keywords: 'explain delivery test' },
    ],
  },
  {
    title: 'Insight',
    entries: [
      {
        screen: 'analytics',
        label: 'Analytics',
        icon: 'pulse',
        action: 'analytics.read',
        key: 'g',
        keywords: 'statistics figures charts delivery rate bounces providers tags volume',
      },
      {
        screen: 'abuse',
        label: 'Abuse',
        icon: 'shield',
        action: 'abuse.read',
        key: 'u',
        keywords: 'overview limits top senders failed sign-ins spikes suspended',
      },
      {
        screen: 'incidents',
        label: 'Incidents',
        icon: 'shield',
        action: 'incident.list',
        keywords: 'abuse compromised account undo hold disable',
        tabOf: 'abuse',
      },
      {
        screen: 'alerts',
        label: 'Alerts',
        icon: 'warn',
        action: 'alert.list',
        keywords: 'abuse problems bounces complaints spike acknowledge resolve',
        tabOf: 'abuse',
      },
      {
        screen: 'suspensions',
        label: 'Suspensions',
        icon: 'pause',
        action: 'suspension.list',
        keywords: 'abuse blocked',
        tabOf: 'abuse',
      },
      {
        screen: 'signInBlocks',
        label: 'Sign-in blocks',
        icon: 'shield',
        action: 'sign_in_block.list',
        key: 'n',
        keywords: 'login lockout password guessing brute force banned address',
        tabOf: 'abuse',
      },
      {
        screen: 'health',
        label: 'Health',
        icon: 'check',
        action: 'health.read',
        key: 'H',
        keywords: 'status components probe disk clock certificates backups monitoring alerts advice',
      },
    ],
  },
  {
    title: 'Developers',
    entries: [
      { screen: 'keys', label: 'API keys', icon: 'key', action: 'api_key.list', key: 'k', keywords: 'token secret bearer' },
      { screen: 'webhooks', label: 'Webhooks', icon: 'hook', action: 'webhook.list', key: 'w', keywords: 'deliveries replay' },
      { screen: 'events', label: 'Events', icon: 'pulse', action: 'event.list', key: 'e', keywords: 'live stream feed follow' },
      {
        screen: 'sandbox',
        label: 'Sandbox',
        icon: 'box',
        action: 'sandbox',
        key: 'b',
        keywords: 'captured test mail',
        profile: 'embedded',
      },
    ],
  },
  {
    title: 'System',
    entries: [
      {
        screen: 'settings',
        label: 'Settings',
        icon: 'sliders',
        action: 'config.write',
        key: 't',
        keywords: 'configuration config options revisions rollback',
      },
      {
        screen: 'services',
        label: 'Services',
        icon: 'server',
        action: 'orchestrator.read',
        key: 'v',
        keywords: 'orchestrator daemons postfix dovecot rspamd redis processes restart reload plan drift operations',
      },
      {
        screen: 'filtering',
        label: 'Filtering',
        icon: 'shield',
        action: 'filter_server.read',
        key: 'f',
        keywords: 'spam junk allow deny list whitelist blacklist threshold score rspamd training',
      },
      {
        screen: 'backups',
        label: 'Backups',
        icon: 'box',
        action: 'backup.read',
        key: 'c',
        keywords: 'restore restic verify recovery key snapshot disaster',
      },
      { screen: 'admins', label: 'Administrators', icon: 'people', action: 'admin.list', key: 'i', keywords: 'roles users assignments' },
      { screen: 'audit', label: 'Audit log', icon: 'scroll', action: 'audit.list', key: 'l', keywords: 'history changes verify' },
    ],
  },
  {
    title: 'You',
    entries: [
      { screen: 'account', label: 'Account', icon: 'person', action: 'account.read', key: 'y', keywords: 'password totp sessions passkey' },
      { screen: 'start', label: 'First steps', icon: 'flag', action: 'account.read', keywords: 'guide onboarding tour' },
    ],
  },
]

const MAX_VISIBLE = 9

/** Of the open groups, most recently opened first, those that stay open so that at most nine entries are visible. */
export function limitOpenGroups(open: readonly string[], groups: readonly NavigationGroup[]): readonly string[] {
  const size = (title: string) => groups.find((group) => group.title === title)?.entries.length ?? 0
  let left = MAX_VISIBLE - size('')
  return open.filter((title) => {
    const fits = size(title) <= left
    if (fits) left -= size(title)
    return fits
  })
}
