import { client, fetchData, fetchPage, type Page, type Schema } from './client'

export type FilterSettings = Schema['FilteringRecord']
export type SettingsPatch = Schema['FilteringPatch']
export type Threshold = FilterSettings['effective']['junk_score']['value']
export type Digest = FilterSettings['effective']['digest']['value']
export type FilterEntry = Schema['FilterEntryRecord']
export type NewEntry = Schema['FilterEntryCreate']
export type ImportAnswer = Schema['FilterImportAnswer']
export type DecidedBy = Schema['SpamRule']
export type Scope = DecidedBy['scope']
export type TestBody = Schema['FilterTest']
export type TestResult = Schema['FilterTestResult']
export type JunkMessage = Schema['JunkRecord']
export type ReleaseAnswer = Schema['ReleaseResponse']

type IfMatch = { 'If-Match'?: string }

interface PageQuery {
  limit: number
  cursor?: string
}

export interface EntryQuery extends PageQuery {
  list?: FilterEntry['list']
  kind?: FilterEntry['kind']
  q?: string
}

export interface JunkQuery extends PageQuery {
  result?: JunkMessage['result']
}

/** A message of the history, to choose from. */
type ReceivedMessage = Pick<Schema['MessageResponse'], 'id' | 'from' | 'subject' | 'created_at'>

/** The filter requests of the server, a domain or a mailbox. Those of a mailbox's owner are below `/me` (me/filtering.ts). */
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
  removeEntry: (entry_id: string) => Promise<unknown>
  importEntries: (items: NewEntry[]) => Promise<ImportAnswer>
  test: (body: TestBody) => Promise<TestResult>
  /** Received messages that can be tested, newest first. */
  listMessages: () => Promise<ReceivedMessage[]>
  canAllowNetworks: boolean
}

/** The junk and refused mail of a mailbox. */
export interface JunkRequests {
  /** Part of query keys. */
  id: string
  list: (query: JunkQuery) => Promise<Page<JunkMessage>>
  release: (message_id: string, allow: boolean) => Promise<ReleaseAnswer>
}

async function listReceived(query: { domain_id?: string; mailbox_id?: string }): Promise<ReceivedMessage[]> {
  return (await fetchPage(client.GET('/messages', { params: { query: { ...query, direction: 'inbound', limit: 25 } } }))).rows
}

export const serverFiltering: FilteringRequests = {
  id: 'server',
  scope: 'server',
  path: '/filtering',
  load: () => fetchData(client.GET('/filtering')),
  save: (body, header) => fetchData(client.PATCH('/filtering', { params: { header }, body })),
  listEntries: (query) => fetchPage(client.GET('/filtering/entries', { params: { query } })),
  addEntry: (body) => fetchData(client.POST('/filtering/entries', { body })),
  removeEntry: (entry_id) => fetchData(client.DELETE('/filtering/entries/{entry_id}', { params: { path: { entry_id } } })),
  importEntries: (items) => fetchData(client.POST('/filtering/entries/import', { body: { items } })),
  test: (body) => fetchData(client.POST('/filtering/test', { body })),
  listMessages: () => listReceived({}),
  canAllowNetworks: true,
}

export function domainFiltering(id: string): FilteringRequests {
  const path = { id }
  return {
    id: `domain ${id}`,
    scope: 'domain',
    path: `/domains/${id}/filtering`,
    load: () => fetchData(client.GET('/domains/{id}/filtering', { params: { path } })),
    save: (body, header) => fetchData(client.PATCH('/domains/{id}/filtering', { params: { path, header }, body })),
    listEntries: (query) => fetchPage(client.GET('/domains/{id}/filtering/entries', { params: { path, query } })),
    addEntry: (body) => fetchData(client.POST('/domains/{id}/filtering/entries', { params: { path }, body })),
    removeEntry: (entry_id) =>
      fetchData(client.DELETE('/domains/{id}/filtering/entries/{entry_id}', { params: { path: { id, entry_id } } })),
    importEntries: (items) => fetchData(client.POST('/domains/{id}/filtering/entries/import', { params: { path }, body: { items } })),
    test: (body) => fetchData(client.POST('/domains/{id}/filtering/test', { params: { path }, body })),
    listMessages: () => listReceived({ domain_id: id }),
    canAllowNetworks: true,
  }
}

export function mailboxFiltering(id: string): FilteringRequests {
  const path = { id }
  return {
    id: `mailbox ${id}`,
    scope: 'mailbox',
    path: `/mailboxes/${id}/filtering`,
    load: () => fetchData(client.GET('/mailboxes/{id}/filtering', { params: { path } })),
    save: (body, header) => fetchData(client.PATCH('/mailboxes/{id}/filtering', { params: { path, header }, body })),
    listEntries: (query) => fetchPage(client.GET('/mailboxes/{id}/filtering/entries', { params: { path, query } })),
    addEntry: (body) => fetchData(client.POST('/mailboxes/{id}/filtering/entries', { params: { path }, body })),
    removeEntry: (entry_id) =>
      fetchData(client.DELETE('/mailboxes/{id}/filtering/entries/{entry_id}', { params: { path: { id, entry_id } } })),
    importEntries: (items) => fetchData(client.POST('/mailboxes/{id}/filtering/entries/import', { params: { path }, body: { items } })),
    test: (body) => fetchData(client.POST('/mailboxes/{id}/filtering/test', { params: { path }, body })),
    listMessages: () => listReceived({ mailbox_id: id }),
    canAllowNetworks: true,
  }
}

export function mailboxJunk(id: string): JunkRequests {
  return {
    id,
    list: (query) => fetchPage(client.GET('/mailboxes/{id}/junk', { params: { path: { id }, query } })),
    release: (message_id, allow) =>
      fetchData(client.POST('/mailboxes/{id}/junk/{message_id}/release', { params: { path: { id, message_id } }, body: { allow } })),
  }
}
