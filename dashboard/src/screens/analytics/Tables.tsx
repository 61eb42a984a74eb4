import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { formatSearch, useSearchParams } from '../../search'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { useNavigation } from '../../ui/navigation'
import { Section } from '../../ui/Page'
import { TableHead } from '../../ui/TableHead'
import { Time } from '../../ui/Time'
import { providerName } from '../messages/bounceClasses'
import { CsvButton } from './CsvButton'
import { type Figures, formatRate, formatSeconds, messagesHref, type Query } from './figures'
import { apiKeysQuery, bouncesQuery, destinationsQuery, domainsQuery, tagsQuery } from './queries'

interface Props {
  query: Query
  since: string
}

/** The figures of each domain, provider, tag and key; only those that the filters apply to. */
export function Tables({ query, since }: Props) {
  const isUnfiltered = !('provider' in query || 'tag' in query || 'api_key_id' in query)
  return (
    <>
      <Domains query={query} since={since} />
      {!('tag' in query || 'api_key_id' in query) && <Destinations query={query} since={since} />}
      {isUnfiltered && <SentWithTags query={query} since={since} />}
      {isUnfiltered && <SentWithKeys query={query} since={since} />}
    </>
  )
}

function Domains({ query, since }: Props) {
  const result = useQuery(domainsQuery(query))
  return (
    <Table
      title="Domains"
      csv={<CsvButton name="domains" query={query} />}
      result={result}
      hasReceived={!('provider' in query)}
      describe={(row) => ({
        id: row.domain_id,
        name: row.domain ?? `deleted (${row.domain_id.slice(0, 8)}…)`,
        filter: row.domain === null ? null : { domain: row.domain_id },
        href: messagesHref(null, { ...query, domain_id: row.domain_id }, since),
      })}
    />
  )
}

function Destinations({ query, since }: Props) {
  const result = useQuery(destinationsQuery(query))
  return (
    <Table
      title="Destinations"
      lead="Outcomes by the provider of the recipients’ servers."
      csv={<CsvButton name="destinations" query={query} />}
      result={result}
      describe={(row) => ({
        id: row.provider,
        name: providerName(row.provider) ?? 'Others',
        filter: { provider: row.provider },
        href: messagesHref('accepted', query, since),
      })}
    />
  )
}

function SentWithTags({ query, since }: Props) {
  const result = useQuery(tagsQuery(query))
  return (
    <Table
      title="Tags"
      csv={<CsvButton name="tags" query={query} />}
      result={result}
      describe={(row) => ({
        id: row.tag,
        name: row.tag,
        filter: { tag: row.tag },
        href: messagesHref('accepted', { ...query, tag: row.tag }, since),
      })}
    />
  )
}

function SentWithKeys({ query, since }: Props) {
  const result = useQuery(apiKeysQuery(query))
  return (
    <Table
      title="API keys"
      csv={<CsvButton name="api-keys" query={query} />}
      result={result}
      describe={(row) => ({
        id: row.api_key_id,
        name: row.name ?? `deleted (${row.api_key_id.slice(0, 8)}…)`,
        filter: row.name === null ? null : { key: row.api_key_id },
        href: messagesHref('accepted', { ...query, api_key_id: row.api_key_id }, since),
      })}
    />
  )
}

interface Description {
  id: string
  name: string
  /** The filter of this screen that shows only this row's figures. */
  filter: Readonly<Record<string, string>> | null
  href: string
}

interface TableProps<Row> {
  title: string
  lead?: string
  csv: ReactNode
  result: UseQueryResult<readonly Row[]>
  hasReceived?: boolean
  describe: (row: Row) => Description
}

/** Names lead to the figures of the row, the last column to its messages. Nothing is shown without rows. */
function Table<Row extends Figures>({ title, lead, csv, result, hasReceived = false, describe }: TableProps<Row>) {
  const { Link } = useNavigation()
  const [params] = useSearchParams()
  if (result.error) return <ErrorNote error={result.error} />
  if (!result.data) return <LoadingLines count={3} />
  if (result.data.length === 0) return null
  const cells: readonly (readonly [string, (row: Row) => string])[] = [
    ['Delivered', (row) => formatNumber(row.delivered)],
    ['Deferred', (row) => formatNumber(row.deferred)],
    ['Bounced', (row) => formatNumber(row.bounced)],
    ['Failed', (row) => formatNumber(row.failed)],
    ...(hasReceived ? [['Received', (row: Row) => formatNumber(row.received)] as const] : []),
    ['Delivery rate', (row) => formatRate(row.delivery_rate)],
    ['Median time', (row) => formatSeconds(row.median_seconds)],
    ['95 % within', (row) => formatSeconds(row.p95_seconds)],
  ]
  return (
    <Section title={title} {...(lead && { lead })} actions={csv} bare>
      <div className="list-card">
        <table className="list" role="table" aria-label={title}>
          <TableHead headers={['Name', ...cells.map(([header]) => header)]} unseen="Messages" />
          <tbody role="rowgroup">
            {result.data.map((row) => {
              const { id, name, filter, href } = describe(row)
              return (
                <tr key={id} role="row">
                  <td role="cell" data-label="Name">
                    {filter ? <Link href={PATHS.analytics + formatSearch({ ...params, ...filter })}>{name}</Link> : name}
                  </td>
                  {cells.map(([header, cell]) => (
                    <td key={header} role="cell" data-label={header}>
                      {cell(row)}
                    </td>
                  ))}
                  <td role="cell">
                    <Link href={href}>
                      Messages<span className="visually-hidden"> of {name}</span>
                    </Link>
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
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
  return (
    <Section title="Bounces" lead="Why mail was deferred, bounced or failed." actions={<CsvButton name="bounces" query={query} />} bare>
      <div className="list-card">
        <table className="list" role="table" aria-label="Bounces">
          <TableHead headers={['Class', 'Deferred', 'Bounced', 'Failed', 'Last reply']} />
          <tbody role="rowgroup">
            {data.map((row) => (
              <tr key={row.class} role="row">
                <td role="cell" data-label="Class">
                  <ClassWithAdvice name={row.class} advice={row.advice} />
                </td>
                {(['deferred', 'bounced', 'failed'] as const).map((name) => (
                  <td key={name} role="cell" data-label={name[0]?.toUpperCase() + name.slice(1)}>
                    {row[name] > 0 ? <Link href={messagesHref(name, query, since)}>{formatNumber(row[name])}</Link> : 0}
                  </td>
                ))}
                <td role="cell" data-label="Last reply">
                  <span className="stack-small">
                    {row.last_reply && <span className="small break">{row.last_reply}</span>}
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
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  )
}

function ClassWithAdvice({ name, advice }: { name: string; advice: string }) {
  return (
    <span className="stack-small">
      <code>{name}</code>
      <span className="small break">{advice}</span>
    </span>
  )
}
