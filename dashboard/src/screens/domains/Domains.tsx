import { Modal } from '@mantine/core'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { fetchPage, client, type Schema } from '../../api/client'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { useDenialReason } from '../../access/Allowed'
import { SiblingTabs } from '../../layout/Navigation'
import { Badge, StatusBadge } from '../../ui/Badge'
import { formatBytes } from '../../units'
import { type Column, DataList } from '../../ui/DataList'
import { DomainForm } from './DomainForm'
import { DomainName } from './DomainSelect'
import { EmptyState } from '../../ui/Empty'
import { NoMatches } from '../../ui/NoMatches'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { NewButton } from '../../ui/NewButton'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'

type Domain = Schema['DomainRecord']

const route = getRouteApi('/app/domains')

const FILTERS = ['q', 'active', 'dns_status'] as const

const COLUMNS: readonly Column<Domain>[] = [
  {
    header: 'Domain',
    sort: 'name',
    wide: true,
    cell: (row) => (
      <span>
        <Link className="row-link" to={PATHS.domain} params={{ id: row.id }}>
          {row.unicode_name}
        </Link>
        {row.alias_of && (
          <span className="muted">
            {' '}
            · alias of <DomainName id={row.alias_of} />
          </span>
        )}
      </span>
    ),
  },
  { header: 'State', cell: (row) => <DomainState domain={row} /> },
  {
    header: 'DNS',
    cell: (row) => (
      <Link className="badge-link" to={PATHS.domain} params={{ id: row.id }} search={{ tab: 'dns' }}>
        <span className="visually-hidden">DNS of {row.unicode_name}: </span>
        <StatusBadge status={row.dns.status} />
      </Link>
    ),
  },
  { header: 'Mailboxes', align: 'right', cell: (row) => formatNumber(row.usage.mailboxes) },
  { header: 'Aliases', align: 'right', cell: (row) => formatNumber(row.usage.aliases) },
  { header: 'Storage', align: 'right', cell: (row) => formatBytes(row.usage.bytes) },
  { header: 'Created', sort: 'created_at', cell: (row) => <Time at={row.created_at} form="ago" /> },
]

/** The status of a domain. */
export function DomainState({ domain }: { domain: Domain }) {
  if (!domain.active) return <Badge tone="warn">inactive</Badge>
  if (!domain.sending_enabled && !domain.receiving_enabled) return <Badge tone="warn">neither sends nor receives</Badge>
  if (!domain.sending_enabled) return <Badge tone="warn">receives only</Badge>
  if (!domain.receiving_enabled) return <Badge tone="warn">sends only</Badge>
  return <Badge tone="good">active</Badge>
}

export function Domains() {
  const { q, active, dns_status, new: isNew } = route.useSearch()
  const [, change] = useSearchParams()
  const navigate = useNavigate()
  const isReadOnly = useDenialReason('domain.create')
  const createButton = <NewButton action="domain.create" label="New domain" />
  const filter = {
    ...(q && { name: q }),
    ...(active && { active: active === 'yes' }),
    ...(dns_status && { dns_status: dns_status as Schema['DomainDnsReport']['status'] }),
  }
  return (
    <Page title="Domains" lead="Domains for which this server sends and receives mail." actions={createButton}>
      <SiblingTabs screen="domains" label="DNS" first="Domains" />
      <Filters names={FILTERS}>
        <TextFilter name="q" label="Search by name" main />
        <ChoiceFilter
          name="active"
          label="State"
          data={[
            { value: 'yes', label: 'Active' },
            { value: 'no', label: 'Inactive' },
          ]}
        />
        <ChoiceFilter
          name="dns_status"
          label="DNS"
          data={[
            { value: 'failing', label: 'Failing', description: 'A required record is missing or wrong' },
            { value: 'attention', label: 'Attention', description: 'Mail works, something can be improved' },
            { value: 'ok', label: 'OK' },
            { value: 'unchecked', label: 'Not checked' },
          ]}
        />
      </Filters>
      <DataList
        label="Domains"
        queryKey={['domains', 'list', filter]}
        load={(page) => fetchPage(client.GET('/domains', { params: { query: { ...filter, ...page, sort: page.sort as 'name' } } }))}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        empty={
          q || active || dns_status ? (
            <NoMatches what="domains" filters={FILTERS} />
          ) : (
            <EmptyState icon="globe" title="No domains yet" action={createButton}>
              {isReadOnly
                ? 'Ask an administrator to assign a domain to you.'
                : 'Add the domain of your addresses to get its DKIM key and the DNS records to publish.'}
            </EmptyState>
          )
        }
      />
      <Modal opened={isNew !== undefined && !isReadOnly} onClose={() => change({ new: undefined })} title="New domain" size="lg">
        <DomainForm
          onDone={(domain) => void navigate({ to: PATHS.domain, params: { id: domain.id } })}
          onCancel={() => change({ new: undefined })}
        />
      </Modal>
    </Page>
  )
}
