import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { formatSearch, useSearchParams } from '../../search'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { useNavigation } from '../../ui/navigation'
import { Section } from '../../ui/Page'
import { BarKey, type Part, StackedBar } from '../../ui/StackedBar'
import { Table } from '../../ui/Table'
import { Time } from '../../ui/Time'
import { providerName } from '../messages/bounceClasses'
import { CsvButton } from './CsvButton'
import { type Figures, formatRate, formatSeconds, type LinkedFigure, messagesHref, type Query } from './figures'
import { apiKeysQuery, bouncesQuery, destinationsQuery, domainsQuery, tagsQuery } from './queries'

interface Props {
  query: Query
  since: string
}

/** The figures of each row of a table; `name` leads to its figures, and the last column to its messages. */
interface FigureRow extends Figures {
  id: string
  name: string
  /** The filter of this screen that shows only this row's figures. */
  filter: Readonly<Record<string, string>> | null
  /** Which messages are behind them. */
  behind: readonly [LinkedFigure | null, Query]
}

interface FigureTable {
  title: string
  lead?: string
  /** The name of its endpoint. */
  endpoint: string
  error: Error | null
  isPending: boolean
  rows: readonly FigureRow[]
}

function toTable<Row extends Figures>(
  title: string,
  endpoint: string,
  { data, error, isPending }: UseQueryResult<readonly Row[]>,
  describe: (row: Row) => Omit<FigureRow, keyof Figures>,
): FigureTable {
  return { title, endpoint, error, isPending, rows: data?.map((row) => ({ ...row, ...describe(row) })) ?? [] }
}

const nameOf = (id: string, name: string | null) => name ?? `deleted (${id.slice(0, 8)}…)`

/** The tables of domains, providers, tags and keys; only those that the filters apply to are loaded. */
export function useTables(query: Query): readonly FigureTable[] {
  const isOfSent = 'tag' in query || 'api_key_id' in query
  const isFiltered = isOfSent || 'provider' in query
  const domains = useQuery(domainsQuery(query))
  const destinations = useQuery({ ...destinationsQuery(query), enabled: !isOfSent })
  const tags = useQuery({ ...tagsQuery(query), enabled: !isFiltered })
  const keys = useQuery({ ...apiKeysQuery(query), enabled: !isFiltered })
  const ofDomains = toTable('Domains', 'domains', domains, (row) => ({
    id: row.domain_id,
    name: nameOf(row.domain_id, row.domain),
    filter: row.domain === null ? null : { domain: row.domain_id },
    behind: [null, { ...query, domain_id: row.domain_id }],
  }))
  const ofProviders = toTable('Destinations', 'destinations', destinations, (row) => ({
    id: row.provider,
    name: providerName(row.provider) ?? 'Others',
    filter: { provider: row.provider },
    behind: ['accepted', { ...query, provider: row.provider }],
  }))
  const ofTags = toTable('Tags', 'tags', tags, (row) => ({
    id: row.tag,
    name: row.tag,
    filter: { tag: row.tag },
    behind: ['accepted', { ...query, tag: row.tag }],
  }))
  const ofKeys = toTable('API keys', 'api-keys', keys, (row) => ({
    id: row.api_key_id,
    name: row.name ?? `key of another administrator, or deleted (${row.api_key_id.slice(0, 8)}…)`,
    filter: row.name === null ? null : { key: row.api_key_id },
    behind: ['accepted', { ...query, api_key_id: row.api_key_id }],
  }))
  return [
    ofDomains,
    ...(isOfSent ? [] : [{ ...ofProviders, lead: 'Outcomes by the provider of the recipients’ servers.' }]),
    ...(isFiltered ? [] : [ofTags, ofKeys]),
  ]
}

type Outcome = 'delivered' | 'deferred' | 'bounced' | 'failed'

const TONES: Readonly<Record<Outcome, Omit<Part, 'count'>>> = {
  delivered: { label: 'Delivered', tone: '--good' },
  deferred: { label: 'Deferred', tone: '--keep' },
  bounced: { label: 'Bounced', tone: '--bad' },
  failed: { label: 'Failed', tone: '--warn' },
}
const FINAL: readonly Outcome[] = ['delivered', 'bounced', 'failed']
const UNDELIVERED = ['deferred', 'bounced', 'failed'] as const satisfies readonly Outcome[]

/** The key of a table's bars, and the bar of each row. */
function toBars<Row extends Partial<Record<Outcome, number>>>(rows: readonly Row[], names: readonly Outcome[]) {
  const partsOf = (row: Row) => names.map((name) => ({ ...TONES[name], count: row[name] ?? 0 }))
  const most = Math.max(0, ...rows.map((row) => partsOf(row).reduce((sum, part) => sum + part.count, 0)))
  return {
    key: <BarKey parts={names.map((name) => TONES[name])} />,
    of: (row: Row) => <StackedBar parts={partsOf(row)} most={most} />,
  }
}

function formatComplaints({ complained, complaint_rate: rate }: Figures): string {
  return complained > 0 ? `${formatNumber(complained)} (${formatRate(rate)})` : '0'
}

/** One of these tables. Nothing is shown without rows. */
export function TableSection({ table: { title, lead, endpoint, error, rows }, query, since }: Props & { table: FigureTable }) {
  const { Link } = useNavigation()
  const [params] = useSearchParams()
  if (error) return <ErrorNote error={error} />
  if (rows.length === 0) return null
  const cells: readonly (readonly [string, (row: Figures) => string])[] = [
    ['Delivered', (row) => formatNumber(row.delivered)],
    ['Deferred', (row) => formatNumber(row.deferred)],
    ['Bounced', (row) => formatNumber(row.bounced)],
    ['Failed', (row) => formatNumber(row.failed)],
    ...(endpoint === 'domains' && !('provider' in query) ? [['Received', (row: Figures) => formatNumber(row.received)] as const] : []),
    // No complaints are counted by provider.
    ...(endpoint === 'destinations' || 'provider' in query ? [] : [['Complaints', formatComplaints] as const]),
    ['Delivery rate', (row) => formatRate(row.delivery_rate)],
    ['Median time', (row) => formatSeconds(row.median_seconds)],
    ['95 % within', (row) => formatSeconds(row.p95_seconds)],
  ]
  const bars = toBars(rows, FINAL)
  return (
    <Section title={title} {...(lead && { lead })} actions={<CsvButton name={endpoint} query={query} />} bare>
      {bars.key}
      <Table
        label={title}
        headers={['Name', ...cells.map(([header]) => header)]}
        actions="Messages"
        rows={rows.map((row) => ({
          id: row.id,
          cells: [
            <span className="stack-small">
              {row.filter ? (
                <Link href={PATHS.analytics + formatSearch({ ...params, ...row.filter })}>{row.name}</Link>
              ) : (
                <span>{row.name}</span>
              )}
              {bars.of(row)}
            </span>,
            ...cells.map(([, cell]) => cell(row)),
          ],
          actions: (
            <Link href={messagesHref(...row.behind, since)}>
              Messages<span className="visually-hidden"> of {row.name}</span>
            </Link>
          ),
        }))}
      />
    </Section>
  )
}

/** Why mail was not delivered, with advice. */
export function Bounces({ query, since }: Props) {
  const { Link } = useNavigation()
  const { data, error } = useQuery(bouncesQuery(query))
  if (error) return <ErrorNote error={error} />
  if (!data) return <LoadingLines count={3} />
  if (data.length === 0) return null
  const bars = toBars(data, UNDELIVERED)
  return (
    <Section title="Bounces" lead="Why mail was deferred, bounced or failed." actions={<CsvButton name="bounces" query={query} />} bare>
      {bars.key}
      <Table
        label="Bounces"
        headers={['Class', 'Deferred', 'Bounced', 'Failed', 'Last reply']}
        rows={data.map((row) => ({
          id: row.class,
          cells: [
            <ClassWithAdvice name={row.class} advice={row.advice} bar={bars.of(row)} />,
            ...UNDELIVERED.map((name) =>
              row[name] > 0 ? <Link href={messagesHref(name, { ...query, class: row.class }, since)}>{formatNumber(row[name])}</Link> : 0,
            ),
            <span className="stack-small">
              {row.last_reply && <span className="small break reason">{row.last_reply}</span>}
              {row.last_at && (
                <span className="muted small">
                  {row.message_id ? (
                    <Link href={PATHS.message.replace('$id', row.message_id)}>
                      <Time at={row.last_at} form="ago" />
                    </Link>
                  ) : (
                    <Time at={row.last_at} form="ago" />
                  )}
                </span>
              )}
            </span>,
          ],
        }))}
      />
    </Section>
  )
}

function ClassWithAdvice({ name, advice, bar }: { name: string; advice: string; bar: ReactNode }) {
  return (
    <span className="stack-small">
      <span>
        <code>{name}</code>
      </span>
      {bar}
      <span className="small reason">{advice}</span>
    </span>
  )
}
