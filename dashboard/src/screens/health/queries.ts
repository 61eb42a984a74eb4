import { queryOptions } from '@tanstack/react-query'
import { client, fetchData, fetchPage } from '../../api/client'

/** All components of the health, for super administrators. */
export function componentsQuery() {
  return queryOptions({
    queryKey: ['health', 'details'],
    queryFn: () => fetchData(client.GET('/health/details')),
    refetchInterval: 30_000,
    retry: false,
  })
}

/** The alerts about components that have not ended: at most one for each component. */
export function alertsQuery() {
  return queryOptions({
    queryKey: ['alerts', 'health'],
    queryFn: () => fetchPage(client.GET('/health/alerts', { params: { query: { state: 'unresolved', limit: 100 } } })),
    refetchInterval: 30_000,
    retry: false,
  })
}
