import { queryOptions } from '@tanstack/react-query'
import { client, fetchData, type Schema } from '../../api/client'

export type DmarcSummary = Schema['DmarcSummaryRecord']
export type DmarcSource = Schema['DmarcSource']
export type TlsSummary = Schema['TlsSummaryRecord']
export type Advice = Schema['AdviceRecord']
export type Report = Schema['ReportRecord']
export type Period = DmarcSummary['period']

export const PERIODS: readonly { value: Period; label: string }[] = [
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: '90d', label: '90 days' },
]

export function dmarcQuery(id: string, period: Period) {
  return queryOptions({
    queryKey: ['reports', id, 'dmarc', period],
    queryFn: () => fetchData(client.GET('/domains/{id}/dmarc', { params: { path: { id }, query: { period } } })),
    staleTime: 30_000,
  })
}

export function tlsQuery(id: string, period: Period) {
  return queryOptions({
    queryKey: ['reports', id, 'tls', period],
    queryFn: () => fetchData(client.GET('/domains/{id}/tls-reports', { params: { path: { id }, query: { period } } })),
    staleTime: 30_000,
  })
}
