import { client, fetchData, fetchPage } from '../api/client'
import type { FilteringRequests, JunkRequests } from '../api/filteringRequests'

/** The filter requests of a mailbox's owner. */
export const ownFiltering: FilteringRequests = {
  id: 'me',
  scope: 'mailbox',
  path: '/me/filtering',
  load: () => fetchData(client.GET('/me/filtering')),
  save: (body, header) => fetchData(client.PATCH('/me/filtering', { params: { header }, body })),
  listEntries: (query) => fetchPage(client.GET('/me/filtering/entries', { params: { query } })),
  addEntry: (body) => fetchData(client.POST('/me/filtering/entries', { body })),
  removeEntry: (entry_id) => fetchData(client.DELETE('/me/filtering/entries/{entry_id}', { params: { path: { entry_id } } })),
  importEntries: (items) => fetchData(client.POST('/me/filtering/entries/import', { body: { items } })),
  test: (body) => fetchData(client.POST('/me/filtering/test', { body })),
  listMessages: async () => (await fetchPage(client.GET('/me/messages', { params: { query: { limit: 25 } } }))).rows,
  canAllowNetworks: false,
}

export const ownJunk: JunkRequests = {
  id: 'me',
  list: (query) => fetchPage(client.GET('/me/junk', { params: { query } })),
  release: (id, allow) => fetchData(client.POST('/me/junk/{id}/release', { params: { path: { id } }, body: { allow } })),
}
