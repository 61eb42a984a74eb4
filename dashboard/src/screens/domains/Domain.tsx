import { Button, Checkbox } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { DetailTabs } from '../../ui/DetailTabs'
import { StatusBadge } from '../../ui/Badge'
import { formatBytes, pluralize } from '../../units'
import { ConfirmDelete } from '../../ui/Confirm'
import { CopyButton, CopyableCode } from '../../ui/Copy'
import { DetailPage, EditButton } from '../../ui/DetailPage'
import { DomainForm } from './DomainForm'
import { DomainName, domainQuery } from './DomainSelect'
import { ErrorNote } from '../../ui/ErrorNote'
import { Facts, Section } from '../../ui/Page'
import { useReady } from '../../ui/useReady'
import { Time } from '../../ui/Time'
import { DomainState } from './Domains'

const route = getRouteApi('/app/domains/$id')

export function Domain() {
  const { id } = route.useParams()
  const domain = useQuery(domainQuery(id))
  // Loaded together, so that the keys do not move what is below them.
  const keys = useQuery(keysQuery(id))
  const isReady = useReady(!keys.isPending)
  const canEdit = useDenialReason('domain.write') === null
  return (
    <DetailPage
      kind="Domain"
      list={{ to: PATHS.domains, label: 'Domains' }}
      query={isReady ? domain : { data: undefined, error: domain.error }}
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
            { value: 'dkim', label: 'DKIM', content: <DkimKeys domain={data} /> },
            ...(canEdit ? [{ value: 'settings', label: 'Settings', content: <Settings domain={data} /> }] : []),
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

function Settings({ domain }: { domain: Schema['DomainRecord'] }) {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <Section title="Settings">
        <DomainForm domain={domain} />
      </Section>
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
        <StatusBadge status={domain.dns.status} /> {domain.dns.checked_at && <Time at={domain.dns.checked_at} form="ago" />}
      </>,
    ],
    ['Print the records to publish', <CopyableCode value={`mailkeep dns ${domain.name}`} what="command" />],
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

function keysQuery(id: string) {
  return queryOptions({
    queryKey: ['domains', 'dkim', id],
    queryFn: () => fetchData(client.GET('/domains/{id}/dkim-keys', { params: { path: { id } } })),
  })
}

function DkimKeys({ domain }: { domain: Schema['DomainRecord'] }) {
  const { data, error } = useQuery(keysQuery(domain.id))
  return (
    <Section title="DKIM" lead="Outgoing mail is signed with these keys. Receivers look them up in your DNS: publish each as a TXT record.">
      <ErrorNote error={error} />
      {data?.map((key) => (
        <div className="stack dkim" key={key.id}>
          <div className="row">
            <span className="strong">{key.selector}</span>
            <StatusBadge status={key.stage} />
            <span className="muted">{key.algorithm}</span>
            <span className="muted">
              DNS: <StatusBadge status={key.dns.status} />
            </span>
          </div>
          <RecordField name="Name" value={key.dns.name} />
          <RecordField name="Value" value={key.dns.value} />
        </div>
      ))}
    </Section>
  )
}

function RecordField({ name, value }: { name: string; value: string }) {
  return (
    <div className="record">
      <span className="muted small">{name}</span>
      <code>{value}</code>
      <CopyButton text={value} what={name.toLowerCase()} />
    </div>
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
