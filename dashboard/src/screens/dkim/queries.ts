import { queryOptions } from '@tanstack/react-query'
import { client, fetchData, fetchPage } from '../../api/client'

/** The DKIM keys of a domain, newest first. */
export function keysQuery(id: string) {
  return queryOptions({
    queryKey: ['dkim', 'keys', id],
    queryFn: async () => (await fetchPage(client.GET('/domains/{id}/dkim-keys', { params: { path: { id }, query: { limit: 200 } } }))).rows,
  })
}

/** The CNAME records of a domain whose DKIM records are delegated. */
export function delegationQuery(id: string) {
  return queryOptions({
    queryKey: ['dkim', 'delegation', id],
    queryFn: () => fetchData(client.GET('/domains/{id}/dkim-delegation', { params: { path: { id } } })),
  })
}

/** The setting `dkim.rotate_days`, for those who may read settings. */
export function rotationQuery() {
  return queryOptions({
    queryKey: ['config', 'settings'],
    queryFn: () => fetchData(client.GET('/config')),
    select: (settings) => Number(settings.find((each) => each.key === 'dkim.rotate_days')?.value ?? 0),
  })
}
