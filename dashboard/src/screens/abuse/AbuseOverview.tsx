import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { fetchData, client, type Schema } from '../../api/client'
import { Allowed } from '../../access/Allowed'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { Badge } from '../../ui/Badge'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { Filters } from '../../ui/Filters'
import { LinkButton } from '../../ui/links'
import { Page, Section } from '../../ui/Page'
import { Table, type TableRow } from '../../ui/Table'
import { Time } from '../../ui/Time'
import { pluralize } from '../../units'
import { DomainFilter } from '../domains/DomainFilter'
import { AbuseTabs } from './AbuseTabs'

type Overview = Schema['AbuseOverviewRecord']
type Usage = Schema['LimitUsageRecord']

const route = getRouteApi('/app/abuse')

export function AbuseOverview() {
  const { domain } = route.useSearch()
  const { data, error } = useQuery({
    queryKey: ['abuse', 'overview', domain],
    queryFn: () => fetchData(client.GET('/abuse/overview', { params: { query: { ...(domain && { domain_id: domain }) } } })),
    refetchInterval: 30_000,
  })
  return (
    <Page title="Abuse" lead="Who may not send, who sends most, and where sign-ins fail. Figures are of the last hour.">
      <AbuseTabs />
      <Filters names={['domain']}>
        <DomainFilter />
      </Filters>
      {error ? <ErrorNote error={error} /> : data ? <Sections overview={data} /> : <LoadingLines count={12} />}
    </Page>
  )
}

function Sections({ overview }: { overview: Overview }) {
  const { suspended, near_limit, spikes, top_senders, authentication_failures: failures } = overview
  return (
    <>
      <TableSection
        title="Suspended senders"
        lead="They can’t send until the suspension is lifted."
        none="Nobody is suspended."
        headers={['Address', 'Reason', 'By', 'Since']}
        rows={suspended.map(({ id, address, reason, by, at }) => ({
          id,
          cells: [
            <MessagesLink from={address} />,
            reason || <span className="muted">none given</span>,
            by === 'rules' ? <Badge tone="warn">abuse rules</Badge> : 'administrator',
            <Time at={at} form="ago" />,
          ],
          actions: <IncidentLink address={address} />,
        }))}
      />
      <TableSection
        title="Near a limit"
        lead="Senders and domains that have used at least 80 % of an hourly limit."
        none="Nobody is near a limit."
        headers={['Who', 'Limit', 'Used']}
        rows={near_limit.map((usage) => ({
          id: `${usage.name} ${usage.subject}`,
          cells: [<Subject usage={usage} />, NAMES[usage.name], <Used usage={usage} />],
          actions: <UsageLinks usage={usage} />,
        }))}
      />
      <TableSection
        title="Spikes"
        lead="Far more mail than at the same hour of the last weeks. Nothing is blocked because of it."
        none="No spikes."
        headers={['Who', 'Problem', 'State', 'Since']}
        rows={spikes.map(({ id, subject, reason, state, created_at }) => ({
          id,
          cells: [
            subject.includes('@') ? <MessagesLink from={subject} /> : subject,
            reason,
            <Badge tone={state === 'open' ? 'warn' : 'calm'}>{state}</Badge>,
            <Time at={created_at} form="ago" />,
          ],
          actions: (
            <Link to={PATHS.alerts} search={{ state: 'unresolved' }}>
              Alerts<span className="visually-hidden">, with that about {subject}</span>
            </Link>
          ),
        }))}
      />
      <TableSection
        title="Top senders"
        none="No mail was sent in the last hour."
        headers={['Address', 'Recipients']}
        rows={top_senders.map((usage) => ({
          id: usage.subject,
          cells: [<Subject usage={usage} />, <Used usage={usage} />],
          actions: <UsageLinks usage={usage} />,
        }))}
      />
      <TableSection
        title="Failed sign-ins by address"
        lead="Wrong passwords of mail clients, owners’ pages and the API. The same wrong password counts once."
        none="No failed sign-ins."
        headers={['From', 'Failures', 'Accounts', 'Blocked until']}
        rows={failures.by_address.map((each) => ({
          id: each.address,
          cells: [
            <span className="strong break">{each.address}</span>,
            formatNumber(each.failures),
            formatNumber(each.accounts),
            <BlockedUntil at={each.blocked_until} />,
          ],
        }))}
      />
      <TableSection
        title="Failed sign-ins by account"
        none="No failed sign-ins."
        headers={['Account', 'Failures', 'Addresses', 'Blocked until']}
        rows={failures.by_account.map((each) => ({
          id: `${each.account_kind} ${each.account}`,
          cells: [
            <span className="strong break">{each.account_kind === 'admin' ? `administrator ${each.account}` : each.account}</span>,
            formatNumber(each.failures),
            formatNumber(each.addresses),
            <BlockedUntil at={each.blocked_until} />,
          ],
          ...(each.account_kind === 'mailbox' && { actions: <IncidentLink address={each.account} /> }),
        }))}
      />
    </>
  )
}

const NAMES: Readonly<Record<Usage['name'], string>> = {
  sender_per_hour: 'Recipients of the sender',
  domain_per_hour: 'Recipients of the domain',
  forward_per_hour: 'Forwarded copies',
}

const SENTENCES: readonly string[] = ['Reason', 'Problem']

function TableSection(props: { title: string; lead?: string; none: string; headers: readonly string[]; rows: readonly TableRow[] }) {
  const { title, lead, none, headers, rows } = props
  return (
    <Section title={title} {...(lead && { lead })} bare>
      {rows.length === 0 ? (
        <p className="muted">{none}</p>
      ) : (
        <Table label={title} headers={headers} rows={rows} actions="Actions" wraps={SENTENCES} />
      )}
    </Section>
  )
}

function Subject({ usage: { subject } }: { usage: Usage }) {
  return subject.includes('@') ? <MessagesLink from={subject} /> : <span className="strong break">{subject}</span>
}

function MessagesLink({ from }: { from: string }) {
  return (
    <Link className="strong break" to={PATHS.messages} search={{ from, direction: 'outbound' }} title={`Messages of ${from}`}>
      {from}
    </Link>
  )
}

function Used({ usage: { used, limit } }: { usage: Usage }) {
  return (
    <>
      {formatNumber(used)} <span className="muted">of {pluralize(limit, 'recipient')}</span>
    </>
  )
}

/** Where the limit is set, and what to do about the sender. */
function UsageLinks({ usage: { name, subject, mailbox_id, domain_id } }: { usage: Usage }) {
  const id = name === 'sender_per_hour' && mailbox_id ? mailbox_id : domain_id
  return (
    <>
      {id && (
        <Allowed action="threshold.write">
          <LinkButton
            to={id === mailbox_id ? PATHS.mailbox : PATHS.domain}
            params={{ id }}
            search={{ tab: 'settings' }}
            variant="subtle"
            size="compact-sm"
            aria-label={`Limits of ${subject}`}
          >
            Limits
          </LinkButton>
        </Allowed>
      )}
      {mailbox_id && <IncidentLink address={subject} />}
    </>
  )
}

function IncidentLink({ address }: { address: string }) {
  return (
    <Allowed action="incident.write">
      <LinkButton
        to={PATHS.incidents}
        search={{ new: 'yes', address }}
        variant="subtle"
        color="red"
        size="compact-sm"
        aria-label={`New incident about ${address}`}
      >
        Incident
      </LinkButton>
    </Allowed>
  )
}

function BlockedUntil({ at }: { at: string | null }) {
  return at ? <Time at={at} form="exact" /> : <span className="muted">no</span>
}
