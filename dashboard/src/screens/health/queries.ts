import { queryOptions } from '@tanstack/react-query'
import { client, fetchData } from '../../api/client'

/** All components of the health, for super administrators. */
export function componentsQuery() {
  return queryOptions({
    queryKey: ['health', 'details'],
    queryFn: () => fetchData(client.GET('/health/details')),
    refetchInterval: 30_000,
    retry: false,
  })
}
