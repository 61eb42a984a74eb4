import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { LoadingLines } from '../../ui/DataList'
import { DayChart } from '../../ui/DayChart'
import { EmptyState } from '../../ui/Empty'
import { ErrorNote } from '../../ui/ErrorNote'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { useNavigation } from '../../ui/navigation'
import { NoMatches } from '../../ui/NoMatches'
import { Page, Section } from '../../ui/Page'
import { formatTime } from '../../ui/Time'
import { KeyFilter } from '../api-keys/KeyName'
import { DomainFilter } from '../domains/DomainFilter'
import { PROVIDER_CHOICES } from '../messages/bounceClasses'
import { SendButton } from '../messages/SendButton'
import { PERIODS } from '../reports/queries'
import { CsvButton } from './CsvButton'
import {
  delaySeries,
  describeChange,
  EXCLUSIVE,
  FILTERS,
  formatRate,
  formatSeconds,
  incomingSeries,
  isEmpty,
  type LinkedFigure,
  messagesHref,
  outcomeSeries,
  type Overview,
  type Query,
  readQuery,
  type Row,
  rowHrefs,
  ZONE,
} from './figures'
import { bouncesQuery, overviewQuery, seriesQuery, tagsQuery } from './queries'
import { Bounces, TableSection, useTables } from './Tables'

/** How much mail was sent and received, what became of it, and how long it took. */
export function Analytics() {
  const [params, change] = useSearchParams()
  const query = readQuery(params)
  return (
    <Page title="Analytics" lead="Recipients of sent and received mail, by the time of the outcome, and how long delivery took.">
      <SegmentedControl
        className="filter-period"
        aria-label="Period"
        data={PERIODS.map((each) => ({ ...each }))}
        value={query.period}
        onChange={(value) => change({ period: value === '7d' ? undefined : value })}
      />
      <Filters names={FILTERS}>
        <DomainFilter />
        <ChoiceFilter name="provider" label="Provider" data={PROVIDER_CHOICES} excludes={EXCLUSIVE} />
        <TagFilter query={query} selected={params['tag']} />
        <KeyFilter excludes={EXCLUSIVE} />
      </Filters>
      <Content query={query} isFiltered={FILTERS.some((name) => params[name])} />
    </Page>
  )
}

/** The tags of the period. */
function TagFilter({ query, selected }: { query: Query; selected: string | undefined }) {
  const { period, tz, domain_id } = { domain_id: undefined, ...query }
  const tags = useQuery(tagsQuery({ period, tz, ...(domain_id && { domain_id }) })).data ?? []
  const names = new Set([...tags.map((each) => each.tag), ...(selected ? [selected] : [])])
  return <ChoiceFilter name="tag" label="Tag" data={[...names].map((name) => ({ value: name, label: name }))} excludes={EXCLUSIVE} />
}

function Content({ query, isFiltered }: { query: Query; isFiltered: boolean }) {
  const overview = useQuery(overviewQuery(query))
  const current = useQuery(seriesQuery(query, false))
  const before = useQuery(seriesQuery(query, true))
  const bounces = useQuery(bouncesQuery(query))
  const tables = useTables(query)
  // Nothing is shown before the tables are there, so that nothing moves.
  const isLoading = bounces.isPending || tables.some((each) => each.isPending)
  const error = overview.error ?? current.error ?? before.error
  if (error) return <ErrorNote error={error} />
  if (!overview.data || !current.data || !before.data || isLoading) return <LoadingLines count={10} />
  if (isEmpty(overview.data) && isEmpty(overview.data.previous))
    return isFiltered ? (
      <NoMatches what="figures" filters={FILTERS} />
    ) : (
      <EmptyState icon="pulse" title="No mail in this period" action={<SendButton />}>
        Figures appear here within seconds after mail was sent or received.
      </EmptyState>
    )
  return (
    <>
      <FigureTiles overview={overview.data} query={query} />
      <Charts overview={overview.data} rows={current.data} before={before.data} query={query} />
      <Bounces query={query} since={overview.data.since} />
      {tables.map((table) => (
        <TableSection key={table.endpoint} table={table} query={query} since={overview.data.since} />
      ))}
    </>
  )
}

const COUNTS: readonly { name: LinkedFigure | 'spam'; label: string }[] = [
  { name: 'accepted', label: 'Accepted' },
  { name: 'delivered', label: 'Delivered' },
  { name: 'deferred', label: 'Deferred' },
  { name: 'bounced', label: 'Bounced' },
  { name: 'failed', label: 'Failed' },
  { name: 'suppressed', label: 'Suppressed' },
  { name: 'received', label: 'Received' },
  { name: 'spam', label: 'Spam' },
  { name: 'rejected', label: 'Rejected' },
]
const OF_PROVIDERS: readonly string[] = ['delivered', 'deferred', 'bounced', 'failed']
const OF_SENT: readonly string[] = [...OF_PROVIDERS, 'accepted', 'suppressed']

function FigureTiles({ overview, query }: { overview: Overview; query: Query }) {
  const { Link } = useNavigation()
  const { previous, since } = overview
  const shown = COUNTS.filter(({ name }) =>
    'provider' in query ? OF_PROVIDERS.includes(name) : !isOfSent(query) || OF_SENT.includes(name),
  )
  return (
    <>
      <p className="muted small">
        From {formatTime(new Date(since), 'short')}, time zone {ZONE}. Below each figure: the same part of the period before, which began{' '}
        {formatTime(new Date(previous.since), 'short')}.
      </p>
      <div className="tiles">
        {shown.map(({ name, label }) => (
          <Tile key={name} label={label} count={formatNumber(overview[name])} before={describeChange(overview[name], previous[name])}>
            {name !== 'spam' && ((count) => <Link href={messagesHref(name, query, since)}>{count}</Link>)}
          </Tile>
        ))}
        {!('provider' in query) && (
          <Tile
            label="Complaints"
            count={formatNumber(overview.complained)}
            before={describeChange(overview.complained, previous.complained)}
          >
            {(count) => <Link href={`${PATHS.suppressions}?reason=complaint`}>{count}</Link>}
          </Tile>
        )}
        <Tile label="Delivery rate" count={formatRate(overview.delivery_rate)} before={`${formatRate(previous.delivery_rate)} before`} />
        <Tile label="Bounce rate" count={formatRate(overview.bounce_rate)} before={`${formatRate(previous.bounce_rate)} before`} />
        {!('provider' in query) && (
          <Tile
            label="Complaint rate"
            count={formatRate(overview.complaint_rate)}
            before={`${formatRate(previous.complaint_rate)} before`}
          />
        )}
        <Tile
          label="First attempt"
          count={formatRate(overview.first_attempt_rate)}
          before={`${formatRate(previous.first_attempt_rate)} before`}
        />
        <Tile
          label="Median time"
          count={formatSeconds(overview.median_seconds)}
          before={`${formatSeconds(previous.median_seconds)} before`}
        />
        <Tile label="95 % within" count={formatSeconds(overview.p95_seconds)} before={`${formatSeconds(previous.p95_seconds)} before`} />
      </div>
    </>
  )
}

/** Whether the figures are those of a tag or key, which only sent mail has. */
function isOfSent(query: Query): boolean {
  return 'tag' in query || 'api_key_id' in query
}

function Tile(props: { label: string; count: string; before: string; children?: false | ((count: string) => ReactNode) }) {
  return (
    <section className="card tile" aria-label={props.label}>
      <h2>{props.label}</h2>
      <p className="tile-count">{props.children ? props.children(props.count) : props.count}</p>
      <p className="muted small">{props.before}</p>
    </section>
  )
}

interface ChartsProps {
  overview: Overview
  rows: readonly Row[]
  before: readonly Row[]
  query: Query
}

function Charts({ overview: { since, until }, rows, before, query }: ChartsProps) {
  const days = useMemo(() => rows.map((row) => row.at), [rows])
  const hasAccepted = !('provider' in query)
  const outcomes = useMemo(() => outcomeSeries(rows, before, hasAccepted), [rows, before, hasAccepted])
  const incoming = useMemo(() => incomingSeries(rows, before), [rows, before])
  const delays = useMemo(() => delaySeries(rows, before), [rows, before])
  const key = JSON.stringify(query)
  const [sent, received] = useMemo(() => {
    const of = JSON.parse(key) as Query
    return [rowHrefs(rows, of, 'outbound'), rowHrefs(rows, of, 'inbound')]
  }, [rows, key])
  const common = { days, since, until: days.at(-1) ?? until, zone: ZONE, step: query.period === '24h' ? 'hour' : 'day' } as const
  return (
    <>
      <Section title="Sent mail" actions={<CsvButton name="timeseries" query={query} />}>
        <DayChart label="Sent mail" {...common} series={outcomes} hrefs={sent} />
      </Section>
      <Section title="Delivery time" lead="From the acceptance here to the other server’s.">
        <DayChart label="Delivery time" {...common} series={delays} hrefs={sent} unit="seconds" />
      </Section>
      {hasAccepted && !isOfSent(query) && (
        <Section title="Received mail">
          <DayChart label="Received mail" {...common} series={incoming} hrefs={received} />
        </Section>
      )}
    </>
  )
}
