import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { client, fetchData } from '../../api/client'
import type { Query } from './figures'

const REFRESH = { staleTime: 30_000, placeholderData: keepPreviousData } as const

export function overviewQuery(query: Query) {
  return queryOptions({
    queryKey: ['analytics', 'overview', query],
    queryFn: () => fetchData(client.GET('/analytics/overview', { params: { query } })),
    ...REFRESH,
  })
}

export function seriesQuery(query: Query, previous: boolean) {
  return queryOptions({
    queryKey: ['analytics', 'timeseries', query, previous],
    queryFn: () => fetchData(client.GET('/analytics/timeseries', { params: { query: { ...query, previous } } })),
    ...REFRESH,
  })
}

export function domainsQuery(query: Query) {
  return queryOptions({
    queryKey: ['analytics', 'domains', query],
    queryFn: () => fetchData(client.GET('/analytics/domains', { params: { query } })),
    ...REFRESH,
  })
}

export function destinationsQuery(query: Query) {
  return queryOptions({
    queryKey: ['analytics', 'destinations', query],
    queryFn: () => fetchData(client.GET('/analytics/destinations', { params: { query } })),
    ...REFRESH,
  })
}

export function bouncesQuery(query: Query) {
  return queryOptions({
    queryKey: ['analytics', 'bounces', query],
    queryFn: () => fetchData(client.GET('/analytics/bounces', { params: { query } })),
    ...REFRESH,
  })
}

export function tagsQuery(query: Query) {
  return queryOptions({
    queryKey: ['analytics', 'tags', query],
    queryFn: () => fetchData(client.GET('/analytics/tags', { params: { query } })),
    ...REFRESH,
  })
}

export function apiKeysQuery(query: Query) {
  return queryOptions({
    queryKey: ['analytics', 'api-keys', query],
    queryFn: () => fetchData(client.GET('/analytics/api-keys', { params: { query } })),
    ...REFRESH,
  })
}
