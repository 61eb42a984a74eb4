import { type Query, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { client, fetchData, type Schema } from '../../api/client'
import { ApiError } from '../../api/errors'
import { refetchUntilAvailable } from '../../api/queries'
import type { Progress } from './records'

export type DomainReport = Schema['DomainDnsReport']
export type ServerReport = Schema['ServerDnsReport']
export type Report = DomainReport | ServerReport

const RUNNING_MS = 1_000
const IDLE_MS = 30_000
/** The longest pause that the server asks for between two checks. */
const PAUSE_SECONDS = 10

/** Often while a check runs, also one that somebody else has requested. */
function refetchInterval<Data extends { check: Progress }>(query: Query<Data, Error, Data, readonly unknown[]>) {
  const isRunning = query.state.data && query.state.data.check.state !== 'idle'
  return isRunning && !query.state.error ? RUNNING_MS : refetchUntilAvailable(IDLE_MS)(query)
}

/** The DNS records of a domain. */
export function domainReportQuery(id: string) {
  return queryOptions({
    queryKey: ['dns', 'domain', id] as readonly unknown[],
    queryFn: () => fetchData(client.GET('/domains/{id}/dns', { params: { path: { id } } })),
    refetchInterval,
  })
}

/** The DNS records of the server. */
export function serverReportQuery() {
  return queryOptions({
    queryKey: ['dns', 'server'] as readonly unknown[],
    queryFn: () => fetchData(client.GET('/dns/server')),
    refetchInterval,
  })
}

export const checkDomain = (id: string) => fetchData(client.POST('/domains/{id}/dns/check', { params: { path: { id } } }))
export const checkServer = () => fetchData(client.POST('/dns/server/check'))

/** For a button that keeps the keyboard's focus while it is busy. */
export const busyProps = (isBusy: boolean) => (isBusy ? { 'data-disabled': true, 'aria-disabled': true } : {})

/** Requests a check; the returned `isBusy` is true until it has ended. */
export function useCheck(
  query: ReturnType<typeof domainReportQuery> | ReturnType<typeof serverReportQuery>,
  request: () => Promise<Progress>,
) {
  const queries = useQueryClient()
  const { queryKey } = query
  const state = useQuery(query as ReturnType<typeof domainReportQuery>).data?.check.state
  const before = useRef<typeof state>(undefined)
  useEffect(() => {
    // The status is also in lists, and in the state of DKIM keys.
    if (before.current && before.current !== 'idle' && state === 'idle')
      for (const key of ['domains', 'dkim']) void queries.invalidateQueries({ queryKey: [key] })
    before.current = state
  }, [state, queries])
  const check = useMutation({
    mutationFn: () => requestWhenAllowed(request),
    onSuccess: (progress) => queries.setQueryData<Report>(queryKey, (report) => report && { ...report, check: progress }),
  })
  const isBusy = check.isPending || (state !== undefined && state !== 'idle')
  const start = () => {
    if (!isBusy) check.mutate()
  }
  return { start, isBusy, isStarting: check.isPending, error: check.error }
}

/** Name servers are asked again after a pause at the earliest: wait for its end. */
async function requestWhenAllowed(request: () => Promise<Progress>): Promise<Progress> {
  try {
    return await request()
  } catch (error) {
    const wait = error instanceof ApiError && error.code === 'RATE_LIMIT_EXCEEDED' ? error.retryAfter : null
    if (wait === null || wait > PAUSE_SECONDS) throw error
    await new Promise((resolve) => setTimeout(resolve, wait * 1000))
    return request()
  }
}
