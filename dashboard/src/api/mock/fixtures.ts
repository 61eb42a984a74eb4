import type { Schema } from '../client'

/** Typed fixtures for development. */
const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString()

export const account: Schema['OwnAccount'] = {
  id: '019a0000-0000-7000-8000-000000000001',
  email: 'sue@example.test',
  role: 'super_admin',
  totp_enabled: false,
  must_change_password: false,
  second_factor_required: false,
  oidc_provider: null,
  last_login_at: at(3),
  passkeys: 0,
  domain_ids: [],
  created_at: at(60 * 24 * 90),
}

export const domains: Schema['DomainRecord'][] = ['example.test', 'shop.example.test', 'münchen.test'].map((name, index) => ({
  id: `019a0000-0000-7000-8000-0000000001${index}0`,
  name: name === 'münchen.test' ? 'xn--mnchen-3ya.test' : name,
  unicode_name: name,
  active: index !== 1,
  sending_enabled: true,
  receiving_enabled: true,
  description: index === 0 ? 'The company' : '',
  max_mailboxes: index === 0 ? 50 : null,
  max_aliases: null,
  default_quota_bytes: 2 ** 30,
  plus_delimiter: '+',
  require_app_passwords: null,
  alias_of: null,
  self_service: true,
  dkim_delegated: false,
  dns_managed: false,
  mta_sts_mode: 'none',
  inherited: { require_app_passwords: { value: false, source: 'server' } },
  relay: null,
  usage: { mailboxes: 3 - index, aliases: 2, bytes: 734_003_200 * (3 - index), alias_domains: 0 },
  dns: { status: (['ok', 'attention', 'unchecked'] as const)[index] ?? 'unchecked', checked_at: index === 2 ? null : at(40) },
  created_at: at(60 * 24 * (90 - index * 30)),
  updated_at: at(60 * 24),
}))

export const mailboxes: Schema['MailboxRecord'][] = ['alice', 'bob', 'charlie'].map((name, index) => ({
  id: `019a0000-0000-7000-8000-0000000002${index}0`,
  domain_id: domains[0]?.id ?? '',
  local_part: name,
  address: `${name}@example.test`,
  name: `${name.charAt(0).toUpperCase()}${name.slice(1)} Example`,
  active: true,
  suspended: index === 2 ? { reason: 'Over the threshold', by: 'rules', at: at(90) } : null,
  quota_bytes: 2 ** 30,
  used_bytes: Math.round(2 ** 30 * [0.2, 0.93, 0.01][index]!),
  message_count: [812, 4071, 12][index]!,
  protocols: { imap: true, pop3: index === 0, smtp: true, sieve: true },
  forward: { destinations: index === 1 ? ['bob@elsewhere.test'] : [], keep_copy: true },
  send_as: index === 0 ? ['sales@example.test'] : [],
  time_zone: 'Europe/Berlin',
  require_app_passwords: index === 2 ? true : null,
  inherited: { require_app_passwords: { value: false, source: 'server' } },
  second_factor: false,
  last_login: {
    at: index === 2 ? null : at(20 * (index + 1)),
    protocol: index === 2 ? null : 'imap',
    ip: index === 2 ? null : '192.0.2.10',
  },
  created_at: at(60 * 24 * 80),
  updated_at: at(60 * 24),
  deleted_at: null,
}))

export const aliases: Schema['AliasRecord'][] = [
  ['sales', 'alice@example.test,bob@example.test'],
  ['', 'charlie@example.test'],
].map(([source, destination], index) => ({
  id: `019a0000-0000-7000-8000-0000000003${index}0`,
  domain_id: domains[0]?.id ?? '',
  source_local_part: source ?? '',
  destination: destination ?? '',
  active: true,
  status: { state: 'ok' as const, text: '' },
  created_at: at(60 * 24 * 10),
  updated_at: at(60 * 24 * 10),
}))

const STATUSES = ['delivered', 'bounced', 'deferred', 'received', 'queued'] as const

export const messages: Schema['MessageResponse'][] = Array.from({ length: 30 }, (_, index) => {
  const status = STATUSES[index % STATUSES.length] ?? 'queued'
  const isInbound = status === 'received'
  return {
    id: `019a0000-0000-7000-8000-00000000${String(4000 + index)}`,
    direction: isInbound ? 'inbound' : 'outbound',
    message_id: `019a0000-${index}@example.test`,
    queue_id: `4cXyZ${index}`,
    domain_id: domains[0]?.id ?? '',
    mailbox_id: null,
    source: isInbound ? 'smtp' : 'api',
    api_key_id: null,
    from: isInbound ? 'customer@elsewhere.test' : 'shop@example.test',
    to: [isInbound ? 'alice@example.test' : `customer${index}@elsewhere.test`],
    cc: [],
    subject: `Your order ${1000 + index}`,
    size: 2048 + index * 917,
    tags: index % 3 ? [] : ['order'],
    metadata: {},
    template: null,
    status,
    recipients: [
      {
        address: isInbound ? 'alice@example.test' : `customer${index}@elsewhere.test`,
        status,
        attempts: 1,
        smtp_code: status === 'bounced' ? 550 : 250,
        enhanced_code: status === 'bounced' ? '5.1.1' : '2.0.0',
        diagnostic: status === 'bounced' ? 'No such user here' : 'OK',
        remote_host: 'mx.elsewhere.test',
        next_attempt_at: null,
        class: null,
        provider: null,
        suppression: null,
      },
    ],
    spam: { score: isInbound ? 1.2 : null, action: isInbound ? 'no action' : null, symbols: [], decided_by: null },
    auth: { spf: isInbound ? 'pass' : null, dkim: isInbound ? 'pass' : null, dmarc: null },
    scheduled_at: null,
    created_at: at(index * 17),
  }
})

/** The full profile; `make up` starts a real server with the embedded profile. */
export const version: Schema['VersionResponse'] = { version: '0.0.0', commit: null, api: 'v1', profile: 'full', sandbox: false }

export const queue: Schema['QueuedMessage'][] = (['deferred', 'hold', 'active'] as const).map((state, index) => ({
  queue_id: `4jW9T1${index}K2mz${index}`,
  state,
  arrived_at: at(20 + index * 45),
  size: 4_120 * (index + 1),
  sender: 'shop@example.test',
  recipients: [
    { address: `customer${index}@elsewhere.test`, reason: index ? '' : 'host mx.elsewhere.test said: 451 4.7.1 Try again later' },
  ],
  next_attempt_at: index ? null : at(-7),
}))
