import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { client, fetchData, type Schema } from '../../api/client'
import { refetchUntilAvailable } from '../../api/queries'

export type Operation = Schema['OperationResponse']
export type Plan = Schema['PlanResponse']

/** All are refreshed when an operation begins or ends. */
const KEY = 'orchestrator'
const RUNNING_MS = 1_000
const IDLE_MS = 10_000

export function overviewQuery() {
  return queryOptions({
    queryKey: [KEY, 'overview'],
    queryFn: () => fetchData(client.GET('/orchestrator')),
    refetchInterval: refetchUntilAvailable(IDLE_MS),
  })
}

export function driftQuery() {
  return queryOptions({ queryKey: [KEY, 'drift'], queryFn: () => fetchData(client.GET('/orchestrator/drift')) })
}

/** The daemons' own checks run for each plan, so it is fetched only when it is shown. */
export function planQuery() {
  return queryOptions({
    queryKey: [KEY, 'plan'],
    queryFn: () => fetchData(client.GET('/orchestrator/plan')),
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  })
}

/** An operation, until it has ended. It may restart what answers, so errors do not end the polling. */
export function useOperation(id: string | null | undefined) {
  const queries = useQueryClient()
  const query = useQuery({
    queryKey: ['operation', id],
    queryFn: () => fetchData(client.GET('/orchestrator/operations/{id}', { params: { path: { id: id ?? '' } } })),
    enabled: Boolean(id),
    refetchInterval: (each) => (each.state.data?.state === 'running' ? RUNNING_MS : refetchUntilAvailable()(each)),
  })
  const state = query.data?.state
  const before = useRef<typeof state>(undefined)
  useEffect(() => {
    if (before.current === 'running' && state !== 'running')
      for (const key of [KEY, 'config']) void queries.invalidateQueries({ queryKey: [key] })
    before.current = state
  }, [state, queries])
  return query
}
