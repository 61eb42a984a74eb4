import { client, fetchData, fetchPage, type Page } from './client'

type IfMatch = { 'If-Match'?: string }

export type Scope = 'server' | 'domain' | 'mailbox'
export type Threshold = number | 'off'
export type Digest = 'off' | 'daily' | 'weekly'
interface InForce<Value> {
  value: Value
  scope: Scope | 'default'
}
export interface FilterSettings {
  junk_score: Threshold | null
  reject_score: Threshold | null
  digest: Digest | null
  learn: boolean | null
  effective: {
    junk_score: InForce<Threshold>
    reject_score: InForce<Threshold>
    digest: InForce<Digest>
    learn: InForce<boolean>
  }
  training: { state: 'unavailable' | 'collecting' | 'active'; spam_learned: number; ham_learned: number; required: number }
}
export type SettingsPatch = Partial<Pick<FilterSettings, 'junk_score' | 'reject_score' | 'digest' | 'learn'>>
export interface FilterEntry {
  id: string
  list: 'allow' | 'deny'
  kind: 'address' | 'domain' | 'network'
  value: string
  enforced: boolean
  comment: string
  created_by: string
  created_at: string
  hits: number
  last_hit_at: string | null
}
export type NewEntry = Pick<FilterEntry, 'list' | 'kind' | 'value'> & Partial<Pick<FilterEntry, 'comment' | 'enforced'>>
export interface ImportAnswer {
  succeeded: number
  failed: number
  results: { index: number; id?: string | null; code?: string | null; error?: string | null }[]
}
export interface DecidedBy {
  scope: Scope
  rule: 'allow_entry' | 'deny_entry' | 'junk_score' | 'reject_score' | 'virus' | 'encrypted' | 'no_verdict'
  entry_id: string | null
}
export interface TestStep {
  text: string
  decided: boolean
}
export interface TestResult {
  action: 'inbox' | 'junk' | 'refuse' | 'defer'
  at: 'rcpt' | 'data' | 'delivery'
  decided_by: DecidedBy | null
  steps: TestStep[]
}
export type TestBody =
  | { message_id: string }
  | { mail_from: string; from: string; client_address: string; score: number | null; auth: { spf?: string; dkim?: string; dmarc?: string } }
export interface JunkMessage {
  id: string
  from: string
  subject: string
  at: string
  score: number | null
  decided_by: DecidedBy | null
  result: 'junk' | 'refused'
  can_release: boolean
}
export interface ReleaseAnswer {
  id: string
  allow_entry_id: string | null
  warnings?: string[]
}

interface EntryQuery {
  limit: number
  cursor?: string
  sort?: string
  order?: 'asc' | 'desc'
  list?: FilterEntry['list']
  kind?: FilterEntry['kind']
  q?: string
}

/** A message of the history, to choose from. */
export interface ReceivedMessage {
  id: string
  from: string
  subject: string
  created_at: string
}

/** The filter requests of the server, a domain or a mailbox; an owner's are those of `/me`. */
export interface FilteringRequests {
  /** Part of query keys. */
  id: string
  scope: Scope
  /** Of the settings, for their version. */
  path: string
  load: () => Promise<FilterSettings>
  save: (body: SettingsPatch, header: IfMatch) => Promise<FilterSettings>
  listEntries: (query: EntryQuery) => Promise<Page<FilterEntry>>
  addEntry: (body: NewEntry) => Promise<FilterEntry>
  removeEntry: (id: string) => Promise<unknown>
  importEntries: (items: NewEntry[]) => Promise<ImportAnswer>
  test: (body: TestBody) => Promise<TestResult>
  listMessages: () => Promise<ReceivedMessage[]>
  /** Whether entries may be enforced, and networks allowed. */
  canEnforce: boolean
  canAllowNetworks: boolean
}

/** The junk and refused mail of a mailbox. */
export interface JunkRequests {
  id: string
  list: (page: { limit: number; cursor?: string; result?: JunkMessage['result'] }) => Promise<Page<JunkMessage>>
  release: (id: string, allow: boolean) => Promise<ReleaseAnswer>
}

// eslint-disable-next-line
const raw = client as any

function at(
  id: string,
  scope: Scope,
  path: string,
  more: Pick<FilteringRequests, 'listMessages' | 'canEnforce' | 'canAllowNetworks'>,
): FilteringRequests {
  const entries = `${path}/entries`
  return {
    id,
    scope,
    path,
    load: () => fetchData(raw.GET(path)),
    save: (body, header) => fetchData(raw.PATCH(path, { params: { header }, body })),
    listEntries: (query) => fetchPage(raw.GET(entries, { params: { query } })),
    addEntry: (body) => fetchData(raw.POST(entries, { body })),
    removeEntry: (entry) => fetchData(raw.DELETE(`${entries}/${entry}`)),
    importEntries: (items) => fetchData(raw.POST(`${entries}/import`, { body: { items } })),
    test: (body) => fetchData(raw.POST(`${path}/test`, { body })),
    ...more,
  }
}

async function listReceived(query: { domain_id?: string; mailbox_id?: string }): Promise<ReceivedMessage[]> {
  return (await fetchPage(client.GET('/messages', { params: { query: { ...query, direction: 'inbound', limit: 25 } } }))).rows
}

const ADMINISTRATORS = { canEnforce: true, canAllowNetworks: true }

export const serverFiltering = at('server', 'server', '/filtering', { ...ADMINISTRATORS, listMessages: () => listReceived({}) })

export function domainFiltering(id: string): FilteringRequests {
  return at(`domain ${id}`, 'domain', `/domains/${id}/filtering`, {
    ...ADMINISTRATORS,
    listMessages: () => listReceived({ domain_id: id }),
  })
}

export function mailboxFiltering(id: string): FilteringRequests {
  return at(`mailbox ${id}`, 'mailbox', `/mailboxes/${id}/filtering`, {
    canEnforce: false,
    canAllowNetworks: true,
    listMessages: () => listReceived({ mailbox_id: id }),
  })
}

export function mailboxJunk(id: string): JunkRequests {
  return junkAt(id, `/mailboxes/${id}/junk`)
}

export function junkAt(id: string, path: string): JunkRequests {
  return {
    id,
    list: (query) => fetchPage(raw.GET(path, { params: { query } })),
    release: (message, allow) => fetchData(raw.POST(`${path}/${message}/release`, { body: { allow } })),
  }
}

export const ownFiltering = at('me', 'mailbox', '/me/filtering', {
  canEnforce: false,
  canAllowNetworks: false,
  listMessages: async () => (await fetchPage(client.GET('/me/messages', { params: { query: { limit: 25 } } }))).rows,
})
export const ownJunk = junkAt('me', '/me/junk')
