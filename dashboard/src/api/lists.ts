import { queryOptions } from '@tanstack/react-query'
import { ask, client } from './client'

/** The lists that the API answers whole. */
export function adminsQuery() {
  return queryOptions({ queryKey: ['admins', 'list', 'all'], queryFn: () => ask(client.GET('/admins')), staleTime: 30_000 })
}

export function keysQuery() {
  return queryOptions({ queryKey: ['api-keys', 'list', 'all'], queryFn: () => ask(client.GET('/api-keys')), staleTime: 30_000 })
}

export function webhooksQuery() {
  return queryOptions({ queryKey: ['webhooks', 'list', 'all'], queryFn: () => ask(client.GET('/webhooks')), staleTime: 30_000 })
}
