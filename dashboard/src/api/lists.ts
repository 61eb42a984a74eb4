import { queryOptions } from '@tanstack/react-query'
import { fetchData, client } from './client'

/** Lists that the API returns without pagination. */
export function adminsQuery() {
  return queryOptions({ queryKey: ['admins', 'list', 'all'], queryFn: () => fetchData(client.GET('/admins')), staleTime: 30_000 })
}

export function apiKeysQuery() {
  return queryOptions({ queryKey: ['api-keys', 'list', 'all'], queryFn: () => fetchData(client.GET('/api-keys')), staleTime: 30_000 })
}

export function webhooksQuery() {
  return queryOptions({ queryKey: ['webhooks', 'list', 'all'], queryFn: () => fetchData(client.GET('/webhooks')), staleTime: 30_000 })
}
