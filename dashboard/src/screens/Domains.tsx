import { Button, Modal } from '@mantine/core'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { askPage, client, type Schema } from '../api/client'
import { number } from '../locale'
import { PATHS } from '../paths'
import { useAddress } from '../search'
import { Allowed, useBarred } from '../ui/Allowed'
import { Badge, Status } from '../ui/Badge'
import { bytes } from '../ui/bytes'
import { type Column, DataList } from '../ui/DataList'
import { DomainForm } from '../ui/DomainForm'
import { Empty } from '../ui/Empty'
import { ChoiceFilter, Filters, TextFilter } from '../ui/Filters'
import { Icon } from '../ui/Icon'
import { Page } from '../ui/Page'
import { Time } from '../ui/Time'

type Domain = Schema['DomainRecord']

const route = getRouteApi('/inside/domains')

const COLUMNS: readonly Column<Domain>[] = [
  {
    head: 'Domain',
    sort: 'name',
    wide: true,
    cell: (row) => (
      <Link className="row-link" to={PATHS.domain} params={{ id: row.id }}>
        {row.unicode_name}
      </Link>
    ),
  },
  { head: 'State', cell: (row) => <DomainState domain={row} /> },
  { head: 'DNS', cell: (row) => <Status of={row.dns.status} /> },
  { head: 'Mailboxes', align: 'right', cell: (row) => number(row.usage.mailboxes) },
  { head: 'Aliases', align: 'right', cell: (row) => number(row.usage.aliases) },
  { head: 'Stored', align: 'right', cell: (row) => bytes(row.usage.bytes) },
  { head: 'Made', sort: 'created_at', cell: (row) => <Time at={row.created_at} form="ago" /> },
]

/** What a domain does at present. */
export function DomainState({ domain }: { domain: Domain }) {
  if (!domain.active) return <Badge tone="warn">inactive</Badge>
  if (!domain.sending_enabled) return <Badge tone="warn">receives only</Badge>
  if (!domain.receiving_enabled) return <Badge tone="warn">sends only</Badge>
  return <Badge tone="good">active</Badge>
}

export function Domains() {
  const { q, active, new: isNew } = route.useSearch()
  const [, change] = useAddress()
  const navigate = useNavigate()
  const isBarred = useBarred('domain.create')
  const make = (
    <Allowed to="domain.create">
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => change({ new: 'yes' })}>
        New domain
      </Button>
    </Allowed>
  )
  const filter = { ...(q && { name: q }), ...(active && { active: active === 'yes' }) }
  return (
    <Page title="Domains" lead="What stands after the @. Mail is sent from and received for these." actions={make}>
      <Filters names={['q', 'active']}>
        <TextFilter name="q" label="Find by name" main />
        <ChoiceFilter
          name="active"
          label="State"
          data={[
            { value: 'yes', label: 'Active' },
            { value: 'no', label: 'Inactive' },
          ]}
        />
      </Filters>
      <DataList
        label="Domains"
        of={['domains', 'list', filter]}
        load={(page) => askPage(client.GET('/domains', { params: { query: { ...filter, ...page, sort: page.sort as 'name' } } }))}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        empty={
          q || active ? (
            <Empty icon="search" title="No domain is like that">
              Clear the filters to see all of them.
            </Empty>
          ) : (
            <Empty icon="globe" title="No domain yet" action={make}>
              {isBarred ? 'No domain is assigned to you. Ask an administrator for one.' : 'Add the domain that your addresses end with. Mailkeep makes its DKIM key and tells which DNS records it needs.'}
            </Empty>
          )
        }
      />
      <Modal opened={isNew !== undefined && !isBarred} onClose={() => change({ new: undefined })} title="New domain" size="lg">
        <DomainForm onDone={(domain) => void navigate({ to: PATHS.domain, params: { id: domain.id } })} onCancel={() => change({ new: undefined })} />
      </Modal>
    </Page>
  )
}
