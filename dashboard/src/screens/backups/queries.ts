import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { client, fetchData, fetchPage, type Schema } from '../../api/client'
import { refetchUntilAvailable } from '../../api/queries'

export type Backup = Schema['BackupRecord']
export type Policy = Schema['BackupPolicyRecord']
export type Operation = Schema['OperationStatusRecord']

/** All are refreshed when an operation begins or ends. */
export const KEY = 'backups'
const RUNNING_MS = 1_000
export const IDLE_MS = 10_000

export function policyQuery() {
  return queryOptions({
    queryKey: [KEY, 'policy'],
    queryFn: () => fetchData(client.GET('/backups/policy')),
    refetchInterval: (query) => refetchUntilAvailable(query.state.data?.operation ? RUNNING_MS : IDLE_MS)(query),
  })
}

/** The newest backups, for the sizes over time and the last ones. */
export function recentQuery() {
  return queryOptions({
    queryKey: [KEY, 'recent'],
    queryFn: () => fetchPage(client.GET('/backups', { params: { query: { limit: 100 } } })),
    refetchInterval: refetchUntilAvailable(IDLE_MS),
  })
}

export function backupQuery(id: string) {
  return queryOptions({
    queryKey: [KEY, id],
    queryFn: () => fetchData(client.GET('/backups/{id}', { params: { path: { id } } })),
    refetchInterval: (query) => refetchUntilAvailable(query.state.data?.operation ? RUNNING_MS : IDLE_MS)(query),
  })
}

/** The policy, and what waits or runs; when that changes, the lists are refreshed. */
export function usePolicy() {
  const queries = useQueryClient()
  const query = useQuery(policyQuery())
  const id = query.data && (query.data.operation?.id ?? null)
  const before = useRef(id)
  useEffect(() => {
    if (before.current !== undefined && before.current !== id) void queries.invalidateQueries({ queryKey: [KEY] })
    before.current = id
  }, [id, queries])
  return query
}

/** An operation, until it has ended. */
export function useOperation(id: string | undefined) {
  const queries = useQueryClient()
  const query = useQuery({
    queryKey: ['operation', id],
    queryFn: () => fetchData(client.GET('/operations/{id}', { params: { path: { id: id ?? '' } } })),
    enabled: Boolean(id),
    refetchInterval: (each) => (each.state.data?.state === 'running' ? RUNNING_MS : refetchUntilAvailable()(each)),
  })
  const state = query.data?.state
  const before = useRef<typeof state>(undefined)
  useEffect(() => {
    if (before.current === 'running' && state !== 'running') void queries.invalidateQueries({ queryKey: [KEY] })
    before.current = state
  }, [state, queries])
  return query
}
