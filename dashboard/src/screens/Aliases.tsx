import { ActionIcon, Button, Group, Modal, Switch, TextInput, Tooltip } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, askPage, client, type Schema } from '../api/client'
import { number } from '../locale'
import { useAddress } from '../search'
import { Addresses } from '../ui/Addresses'
import { Allowed, useAccount, useBarred } from '../ui/Allowed'
import { Badge } from '../ui/Badge'
import { Confirm } from '../ui/Confirm'
import { type Column, DataList, Lines } from '../ui/DataList'
import { DomainName, domainQuery, DomainSelect, domainsQuery, useOnlyDomain } from '../ui/Domains'
import { Empty } from '../ui/Empty'
import { ErrorNote } from '../ui/ErrorNote'
import { DomainFilter, Filters } from '../ui/Filters'
import { Form } from '../ui/Form'
import { useChange, useFields } from '../ui/form'
import { Icon } from '../ui/Icon'
import { Page } from '../ui/Page'
import { Time } from '../ui/Time'
import { Destination } from './Routing'

type Alias = Schema['AliasRecord']

const route = getRouteApi('/inside/aliases')
const REFRESHES = ['aliases', 'domains', 'routing']
/** Of a long list only these are shown, and their routes asked for. */
const MOST_SHOWN = 10

export function Aliases() {
  const search = route.useSearch()
  const [, change] = useAddress()
  const isBarred = useBarred('alias.write')
  const [deleted, setDeleted] = useState<Alias | null>(null)
  const account = useAccount()
  const isOfOne = account.role === 'domain_admin'
  const first = useQuery({ ...domainsQuery(), enabled: isOfOne }).data?.rows[0]
  // The API asks a domain administrator for the domain; the first one is as good as any.
  const domain = search.domain ?? (isOfOne ? first?.id : undefined)
  const make = (
    <Allowed to="alias.write">
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => change({ new: 'yes' })}>
        New alias
      </Button>
    </Allowed>
  )
  const close = () => change({ new: undefined, edit: undefined })
  return (
    <Page title="Aliases" lead="Addresses that have no mailbox of their own, and lead to others." actions={make}>
      <Filters names={isOfOne ? [] : ['domain']}>
        <DomainFilter {...(isOfOne && { implied: domain ?? null })} />
      </Filters>
      {isOfOne && !domain ? (
        <NoDomain />
      ) : (
        <DataList
          label="Aliases"
          of={['aliases', 'list', domain]}
          load={(page) =>
            askPage(client.GET('/aliases', { params: { query: { ...page, sort: page.sort as 'created_at', ...(domain && { domain_id: domain }) } } }))
          }
          columns={columns((alias) => change({ edit: alias.id }), setDeleted)}
          rowKey={(row) => row.id}
          empty={
            <Empty icon="branch" title="No alias yet" action={make}>
              An alias like sales@ leads to one or more mailboxes, or out of the house. One with nothing before the @ catches all that nobody else takes.
            </Empty>
          }
        />
      )}
      <Modal opened={search.new !== undefined && !isBarred} onClose={close} title="New alias" size="lg">
        <AliasForm {...(domain && { domainId: domain })} onDone={close} />
      </Modal>
      <Modal opened={search.edit !== undefined && !isBarred} onClose={close} title="Change alias" size="lg">
        {search.edit && <Edit id={search.edit} onDone={close} />}
      </Modal>
      {deleted && <DeleteAlias alias={deleted} onClose={() => setDeleted(null)} />}
    </Page>
  )
}

function NoDomain() {
  return (
    <div className="card">
      <Empty icon="globe" title="No domain is assigned to you">
        Aliases belong to domains. Ask an administrator to assign one to you.
      </Empty>
    </div>
  )
}

function columns(onEdit: (alias: Alias) => void, onDelete: (alias: Alias) => void): readonly Column<Alias>[] {
  return [
    { head: 'Alias', cell: (row) => <Source alias={row} /> },
    { head: 'Leads to', wide: true, cell: (row) => <span title={shorten(row.destination)}>{shorten(row.destination)}</span> },
    { head: 'State', cell: (row) => (row.active ? <Badge tone="good">active</Badge> : <Badge tone="warn">inactive</Badge>) },
    { head: 'Made', sort: 'created_at', cell: (row) => <Time at={row.created_at} form="ago" /> },
    {
      head: '',
      align: 'right',
      cell: (row) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <RowButton name="edit" label={`Change ${row.source_local_part || 'the catch-all'}`} onClick={() => onEdit(row)} />
          <RowButton name="trash" label={`Delete ${row.source_local_part || 'the catch-all'}`} onClick={() => onDelete(row)} />
        </Group>
      ),
    },
  ]
}

function RowButton({ name, label, onClick }: { name: 'edit' | 'trash'; label: string; onClick: () => void }) {
  return (
    <Allowed to="alias.write">
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} onClick={onClick}>
        <Icon name={name} size={16} />
      </ActionIcon>
    </Allowed>
  )
}

function Source({ alias }: { alias: Alias }) {
  return (
    <span className="strong break">
      {alias.source_local_part || (
        <Tooltip label="Takes all that no mailbox and no other alias takes">
          <span>
            <Badge tone="info">catch-all</Badge>{' '}
          </span>
        </Tooltip>
      )}
      <span className="soft">
        @<DomainName id={alias.domain_id} />
      </span>
    </span>
  )
}

function Edit({ id, onDone }: { id: string; onDone: () => void }) {
  const { data, error } = useQuery({ queryKey: ['aliases', 'one', id], queryFn: () => ask(client.GET('/aliases/{id}', { params: { path: { id } } })) })
  if (!data) return error ? <ErrorNote error={error} /> : <Lines />
  return (
    <div className="stack">
      {data.warnings.length > 0 && (
        <div className="note note-warn">
          <Icon name="warn" />
          <div>
            {data.warnings.map((warning) => (
              <p key={warning}>{warning}</p>
            ))}
          </div>
        </div>
      )}
      <AliasForm alias={data} onDone={onDone} />
    </div>
  )
}

function AliasForm({ alias, domainId, onDone }: { alias?: Alias; domainId?: string; onDone: () => void }) {
  const save = useChange({
    change: ({ source, domain_id, destinations, active }: Values): Promise<Alias> => {
      const body = { destination: destinations.join(','), active }
      return alias
        ? ask(client.PATCH('/aliases/{id}', { params: { path: { id: alias.id } }, body }))
        : ask(client.POST('/aliases', { body: { ...body, domain_id: domain_id ?? '', source_local_part: source.trim() } }))
    },
    refreshes: REFRESHES,
    told: alias ? 'The alias is changed.' : 'The alias is made.',
    then: onDone,
  })
  const form = useFields<Values>(
    { source: alias?.source_local_part ?? '', domain_id: alias?.domain_id ?? domainId ?? null, destinations: alias?.destination.split(',') ?? [], active: alias?.active ?? true },
    save.error,
  )
  const only = useOnlyDomain()
  const domain_id = form.values.domain_id ?? only
  return (
    <Form
      onSubmit={() => save.mutate({ ...form.values, domain_id })}
      error={save.error}
      besides={[...form.names, 'source_local_part', 'destination']}
      actions={
        <>
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            {alias ? 'Save' : 'Make alias'}
          </Button>
        </>
      }
    >
      {!alias && (
        <div className="pair">
          <TextInput label="Name before the @" description="Empty catches all that nobody else takes" placeholder="sales" data-autofocus autoComplete="off" spellCheck={false} {...form.text('source')} error={form.faultOf('source_local_part')} />
          <DomainSelect label="Domain" description="What stands after the @" placeholder="Choose one" {...form.value('domain_id')} value={domain_id} />
        </div>
      )}
      <Addresses
        label="Leads to"
        description="Press Enter after each address"
        placeholder="alice@example.com"
        {...form.value('destinations')}
        error={form.faultOf('destination')}
      />
      <Preview addresses={form.values.destinations} />
      <Switch label="Active" {...form.checked('active')} />
    </Form>
  )
}

interface Values {
  source: string
  domain_id: string | null
  destinations: string[]
  active: boolean
}

function shorten(destination: string): string {
  const addresses = destination.split(',')
  const rest = addresses.length - MOST_SHOWN
  return addresses.slice(0, MOST_SHOWN).join(', ') + (rest > 0 ? ` and ${number(rest)} more` : '')
}

/** Where mail for each of the destinations goes at present; of one size, whatever it shows. */
function Preview({ addresses }: { addresses: readonly string[] }) {
  const [asked] = useDebouncedValue(addresses, 250)
  return (
    <div className="note preview" role="region" aria-label="Routing of the destinations" tabIndex={0}>
      <Icon name="route" />
      <div>
        <p className="note-title">Where mail for these addresses goes now</p>
        {asked.length === 0 && <p className="soft">Add an address to see its route.</p>}
        {asked.slice(0, MOST_SHOWN).map((address) => (
          <Destination key={address} address={address} />
        ))}
        {asked.length > MOST_SHOWN && <p className="soft">and {number(asked.length - MOST_SHOWN)} more</p>}
      </div>
    </div>
  )
}

function DeleteAlias({ alias, onClose }: { alias: Alias; onClose: () => void }) {
  const domain = useQuery(domainQuery(alias.domain_id)).data
  const remove = useChange({
    change: () => ask(client.DELETE('/aliases/{id}', { params: { path: { id: alias.id } } })),
    refreshes: REFRESHES,
    told: 'The alias is deleted.',
    then: onClose,
  })
  return (
    <Confirm opened onClose={onClose} title="Delete alias" action="Delete alias" busy={remove.isPending} error={remove.error} onConfirm={() => remove.mutate(undefined)}>
      Mail for{' '}
      <strong className="break">
        {alias.source_local_part || 'anybody else'}@{domain?.unicode_name}
      </strong>{' '}
      no longer goes to {shorten(alias.destination)}. If nobody else takes it, it is refused.
    </Confirm>
  )
}
