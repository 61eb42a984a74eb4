import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { DetailTabs } from '../../ui/DetailTabs'
import { StatusBadge } from '../../ui/Badge'
import { formatBytes, pluralize } from '../../units'
import { ConfirmDelete } from '../../ui/Confirm'
import { CopyableCode } from '../../ui/Copy'
import { LoadingLines } from '../../ui/DataList'
import { DetailPage, EditButton } from '../../ui/DetailPage'
import { DomainForm } from './DomainForm'
import { DomainName, domainQuery } from './DomainSelect'
import { Facts, Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { DomainState } from './Domains'
import { Thresholds } from '../abuse/Thresholds'

const DnsTab = lazy(() => import('../dns/DnsTab'))
const Reports = lazy(async () => ({ default: (await import('../reports/Reports')).Reports }))
const DkimTab = lazy(() => import('../dkim/DkimTab'))
const FilteringTab = lazy(() => import('../filtering/FilteringTab'))

const route = getRouteApi('/app/domains/$id')

export function Domain() {
  const { id } = route.useParams()
  const domain = useQuery(domainQuery(id))
  const canEdit = useDenialReason('domain.write') === null
  const canLimit = useDenialReason('threshold.write') === null
  return (
    <DetailPage
      kind="Domain"
      list={{ to: PATHS.domains, label: 'Domains' }}
      query={domain}
      title={(data) => data.unicode_name}
      lead={(data) => (
        <>
          <DomainState domain={data} /> {data.description}
        </>
      )}
      actions={() => <EditButton action="domain.write" />}
    >
      {(data) => (
        <DetailTabs
          tabs={[
            { value: 'overview', label: 'Overview', content: <Overview domain={data} /> },
            { value: 'dns', label: 'DNS', content: <Suspense fallback={<LoadingLines count={8} />}>{<DnsTab domain={data} />}</Suspense> },
            {
              value: 'dkim',
              label: 'DKIM',
              content: <Suspense fallback={<LoadingLines count={8} />}>{<DkimTab domain={data} />}</Suspense>,
            },
            {
              value: 'reports',
              label: 'Reports',
              content: <Suspense fallback={<LoadingLines count={8} />}>{<Reports domainId={data.id} />}</Suspense>,
            },
            {
              value: 'filtering',
              label: 'Filtering',
              content: <Suspense fallback={<LoadingLines count={8} />}>{<FilteringTab domain={data.id} />}</Suspense>,
            },
            ...(canEdit || canLimit
              ? [{ value: 'settings', label: 'Settings', content: <Settings domain={data} canEdit={canEdit} /> }]
              : []),
          ]}
        />
      )}
    </DetailPage>
  )
}

function Overview({ domain }: { domain: Schema['DomainRecord'] }) {
  return (
    <Section title="Domain">
      <Facts rows={facts(domain)} />
    </Section>
  )
}

function Settings({ domain, canEdit }: { domain: Schema['DomainRecord']; canEdit: boolean }) {
  const [isDeleting, setDeleting] = useState(false)
  if (!canEdit) return <Thresholds scope="domain" id={domain.id} />
  return (
    <>
      <Section title="Settings">
        <DomainForm domain={domain} />
      </Section>
      <Thresholds scope="domain" id={domain.id} />
      <Section title="Danger zone">
        <div className="between">
          <p className="muted">Delete this domain. It must have no mailboxes, aliases and alias domains.</p>
          <Allowed action="domain.write" disabledReason={deletionBlocker(domain)}>
            <Button variant="light" color="red" onClick={() => setDeleting(true)}>
              Delete domain
            </Button>
          </Allowed>
        </div>
      </Section>
      <DeleteDomain domain={domain} opened={isDeleting} onClose={() => setDeleting(false)} />
    </>
  )
}

function facts(domain: Schema['DomainRecord']) {
  const formatLimit = (limit: number | null) => (limit === null ? '' : ` of ${formatNumber(limit)}`)
  const { usage } = domain
  return [
    ...(domain.alias_of ? [['Alias of', <DomainLink id={domain.alias_of} />] as const] : []),
    ...(usage.alias_domains ? [['Alias domains', <AliasDomains domain={domain} />] as const] : []),
    [
      'Mailboxes',
      <Link
        to={PATHS.mailboxes}
        search={{ domain: domain.id }}
      >{`${formatNumber(usage.mailboxes)}${formatLimit(domain.max_mailboxes)}`}</Link>,
    ],
    [
      'Aliases',
      <Link to={PATHS.aliases} search={{ domain: domain.id }}>{`${formatNumber(usage.aliases)}${formatLimit(domain.max_aliases)}`}</Link>,
    ],
    ['Storage', formatBytes(usage.bytes)],
    [
      'Messages',
      <Link to={PATHS.messages} search={{ domain: domain.id }}>
        View messages
      </Link>,
    ],
    ['Default mailbox quota', domain.default_quota_bytes ? formatBytes(domain.default_quota_bytes) : 'unlimited'],
    ['Subaddressing', domain.plus_delimiter ? <code>{`name${domain.plus_delimiter}tag`}</code> : 'none'],
    ['Relay', domain.relay ? <code>{`${domain.relay.host}:${domain.relay.port}`}</code> : 'none of its own'],
    [
      'DNS',
      <>
        <StatusBadge status={domain.dns.status} />{' '}
        <Link to={PATHS.domain} params={{ id: domain.id }} search={{ tab: 'dns' }}>
          View records
        </Link>
      </>,
    ],
    ['ASCII (Punycode) name', <code>{domain.name}</code>],
    ['Created', <Time at={domain.created_at} />],
    ['ID', <CopyableCode value={domain.id} what="ID" />],
  ] as const
}

/** Why the domain can't be deleted yet, or null. */
function deletionBlocker({ usage }: Schema['DomainRecord']): string | null {
  if (usage.mailboxes + usage.aliases + usage.alias_domains === 0) return null
  const aliasDomains = usage.alias_domains ? ` and ${pluralize(usage.alias_domains, 'alias domain')}` : ''
  return `Delete its ${pluralize(usage.mailboxes, 'mailbox', 'mailboxes')}${aliasDomains ? ',' : ' and'} ${pluralize(usage.aliases, 'alias', 'aliases')}${aliasDomains} first.`
}

function DomainLink({ id }: { id: string }) {
  return (
    <Link to={PATHS.domain} params={{ id }}>
      <DomainName id={id} />
    </Link>
  )
}

/** The first alias domains of a domain, as far as the account may see them. */
function AliasDomains({ domain }: { domain: Schema['DomainRecord'] }) {
  const { data } = useQuery({
    queryKey: ['domains', 'aliases of', domain.id],
    queryFn: () => fetchPage(client.GET('/domains', { params: { query: { alias_of: domain.id, sort: 'name', order: 'asc', limit: 20 } } })),
  })
  const rows = data?.rows ?? []
  const more = domain.usage.alias_domains - rows.length
  return (
    <>
      {rows.map((row, index) => (
        <span key={row.id}>
          {index > 0 && ', '}
          <Link to={PATHS.domain} params={{ id: row.id }}>
            {row.unicode_name}
          </Link>
        </span>
      ))}
      {data && more > 0 && (rows.length ? ` and ${formatNumber(more)} more` : formatNumber(more))}
    </>
  )
}

function DeleteDomain(props: { domain: Schema['DomainRecord']; opened: boolean; onClose: () => void }) {
  const { domain, ...dialog } = props
  const navigate = useNavigate()
  const [cancelsScheduled, setCancelsScheduled] = useState(false)
  return (
    <ConfirmDelete
      {...dialog}
      title={`Delete ${domain.unicode_name}`}
      action="Delete domain"
      name={domain.unicode_name}
      request={() =>
        fetchData(
          client.DELETE('/domains/{id}', {
            params: { path: { id: domain.id }, query: { ...(cancelsScheduled && { cancel_scheduled: true }) } },
          }),
        )
      }
      invalidates={['domains']}
      removes={['domains', 'one', domain.id]}
      message={`Deleted ${domain.unicode_name}.`}
      onDeleted={() => void navigate({ to: PATHS.domains })}
    >
      <p>
        Deletes the domain with its DKIM keys, its own webhooks and its administrator assignments. Mail for it is rejected from now on. This
        can't be undone.
      </p>
      <Checkbox
        label="Cancel its scheduled messages, if there are any"
        checked={cancelsScheduled}
        onChange={(event) => setCancelsScheduled(event.currentTarget.checked)}
      />
    </ConfirmDelete>
  )
}
