import { Group, Modal, Switch, TextInput, Tooltip } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { Addresses } from '../../ui/Addresses'
import { useDenialReason } from '../../access/Allowed'
import { useAccount } from '../../access/account'
import { Badge } from '../../ui/Badge'
import { AliasProblems, AliasState } from './AliasStatus'
import { ConfirmDelete } from '../../ui/Confirm'
import { type Column, DataList, LoadingLines } from '../../ui/DataList'
import { DomainName, domainQuery, DomainSelect, domainsQuery, useOnlyDomain } from '../domains/DomainSelect'
import { EmptyState } from '../../ui/Empty'
import { NoMatches } from '../../ui/NoMatches'
import { ErrorNote } from '../../ui/ErrorNote'
import { DomainFilter } from '../domains/DomainFilter'
import { Filters, TextFilter } from '../../ui/Filters'
import { ConflictDialog, useVersion } from '../../ui/ConflictDialog'
import { Form, FormButtons } from '../../ui/Form'
import { useApiMutation, useForm } from '../../ui/useForm'
import { Icon } from '../../ui/Icon'
import { NewButton } from '../../ui/NewButton'
import { ListActions } from '../bulk/ListActions'
import { SelectionBar } from '../bulk/SelectionBar'
import { selectColumn, useSelection } from '../../ui/selection'
import { Page } from '../../ui/Page'
import { RowButton } from '../../ui/RowButton'
import { Time } from '../../ui/Time'
import { Destination } from '../routing/Routing'

type Alias = Schema['AliasRecord']

const route = getRouteApi('/app/aliases')
const INVALIDATES = ['aliases', 'domains', 'routing']
/** A longer list is truncated, and only these routes are requested. */
const MAX_SHOWN = 10

export function Aliases() {
  const search = route.useSearch()
  const [, change] = useSearchParams()
  const isReadOnly = useDenialReason('alias.write')
  const [deleted, setDeleted] = useState<Alias | null>(null)
  const account = useAccount()
  const needsDomain = account.role === 'domain_admin'
  const first = useQuery({ ...domainsQuery(), enabled: needsDomain }).data?.rows[0]
  // The API requires a domain from domain administrators; the first one is the default.
  const domain = search.domain ?? (needsDomain ? first?.id : undefined)
  const filter = { ...(search.q && { q: search.q }), ...(domain && { domain_id: domain }) }
  const filters = needsDomain ? ['q'] : ['q', 'domain']
  const createButton = <NewButton action="alias.write" label="New alias" />
  const selection = useSelection()
  const close = () => change({ new: undefined, edit: undefined })
  return (
    <Page
      title="Aliases"
      lead="Addresses that forward to mailboxes or external addresses."
      actions={
        <>
          <ListActions resource="alias" {...(domain && { domain })} />
          {createButton}
        </>
      }
    >
      <Filters names={filters}>
        <TextFilter name="q" label="Search by address or destination" main />
        <DomainFilter {...(needsDomain && { implied: domain ?? null })} />
      </Filters>
      {needsDomain && !domain ? (
        <NoDomain />
      ) : (
        <DataList
          label="Aliases"
          queryKey={['aliases', 'list', filter]}
          load={(page) =>
            fetchPage(
              client.GET('/aliases', {
                params: { query: { ...filter, ...page, sort: page.sort as 'created_at', with_status: true } },
              }),
            )
          }
          columns={[
            ...(isReadOnly ? [] : [selectColumn<Alias>(selection, (row) => row.id, nameOf)]),
            ...columns((alias) => change({ edit: alias.id }), setDeleted),
          ]}
          rowKey={(row) => row.id}
          {...(!isReadOnly && {
            toolbar: (rows: readonly Alias[]) => <SelectionBar resource="alias" rows={rows} selection={selection} nameOf={nameOf} />,
          })}
          empty={
            filters.some((name) => search[name as 'q' | 'domain']) ? (
              <NoMatches what="aliases" filters={filters} />
            ) : (
              <EmptyState icon="branch" title="No aliases yet" action={createButton}>
                An alias forwards mail for one address, or for all addresses that do not exist, to other addresses.
              </EmptyState>
            )
          }
        />
      )}
      <Modal opened={search.new !== undefined && !isReadOnly} onClose={close} title="New alias" size="lg">
        <AliasForm {...(domain && { domainId: domain })} onDone={close} />
      </Modal>
      <Modal opened={search.edit !== undefined && !isReadOnly} onClose={close} title="Edit alias" size="lg">
        {search.edit && <EditAlias id={search.edit} onDone={close} />}
      </Modal>
      {deleted && <DeleteAlias alias={deleted} onClose={() => setDeleted(null)} />}
    </Page>
  )
}

const nameOf = (alias: Alias) => alias.source_local_part || 'the catch-all'

function NoDomain() {
  return (
    <div className="card">
      <EmptyState icon="globe" title="No domains assigned">
        Ask an administrator to assign a domain to you.
      </EmptyState>
    </div>
  )
}

function columns(onEdit: (alias: Alias) => void, onDelete: (alias: Alias) => void): readonly Column<Alias>[] {
  return [
    { header: 'Alias', sort: 'source_local_part', cell: (row) => <AliasAddress alias={row} /> },
    { header: 'Destinations', wide: true, cell: (row) => <span title={shorten(row.destination)}>{shorten(row.destination)}</span> },
    { header: 'State', cell: (row) => <AliasState alias={row} /> },
    { header: 'Created', sort: 'created_at', cell: (row) => <Time at={row.created_at} form="ago" /> },
    {
      header: '',
      align: 'right',
      cell: (row) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <RowButton
            action="alias.write"
            name="edit"
            label={`Edit ${row.source_local_part || 'the catch-all'}`}
            onClick={() => onEdit(row)}
          />
          <RowButton
            action="alias.write"
            name="trash"
            label={`Delete ${row.source_local_part || 'the catch-all'}`}
            onClick={() => onDelete(row)}
          />
        </Group>
      ),
    },
  ]
}

function AliasAddress({ alias }: { alias: Alias }) {
  return (
    <AliasLink alias={alias}>
      {alias.source_local_part || (
        <Tooltip label="Receives mail for addresses that do not exist">
          <span>
            <Badge tone="info">catch-all</Badge>{' '}
          </span>
        </Tooltip>
      )}
      <span className="muted">
        @<DomainName id={alias.domain_id} />
      </span>
    </AliasLink>
  )
}

function AliasLink({ alias, children }: { alias: Alias; children: ReactNode }) {
  if (useDenialReason('alias.write')) return <span className="strong break">{children}</span>
  return (
    <Link className="row-link break" from={PATHS.aliases} to="." search={(before) => ({ ...before, edit: alias.id })} replace>
      {children}
    </Link>
  )
}

function EditAlias({ id, onDone }: { id: string; onDone: () => void }) {
  const { data, error } = useQuery({
    queryKey: ['aliases', 'one', id],
    queryFn: () => fetchData(client.GET('/aliases/{id}', { params: { path: { id } } })),
  })
  if (!data) return error ? <ErrorNote error={error} /> : <LoadingLines />
  return (
    <div className="stack">
      <AliasProblems alias={data} />
      <AliasForm alias={data} onDone={onDone} />
    </div>
  )
}

function AliasForm({ alias, domainId, onDone }: { alias?: Alias; domainId?: string; onDone: () => void }) {
  const version = useVersion(alias && `/aliases/${alias.id}`)
  const save = useApiMutation({
    request: ({ source, domain_id, destinations, active }: Values): Promise<Alias> => {
      const body = { destination: destinations.join(','), active }
      return alias
        ? fetchData(client.PATCH('/aliases/{id}', { params: { path: { id: alias.id }, header: version.header }, body }))
        : fetchData(client.POST('/aliases', { body: { ...body, domain_id: domain_id ?? '', source_local_part: source.trim() } }))
    },
    invalidates: INVALIDATES,
    message: alias ? 'Alias saved.' : 'Alias created.',
    onSuccess: () => {
      form.markSaved()
      onDone()
    },
  })
  const form = useForm<Values>(initial(alias, domainId), save.error)
  const onlyDomain = useOnlyDomain()
  const domain_id = form.values.domain_id ?? onlyDomain
  return (
    <Form
      onSubmit={() => save.mutate({ ...form.values, domain_id })}
      error={save.error}
      isDirty={form.isDirty}
      formFields={[...form.names, 'source_local_part', 'destination']}
      actions={<FormButtons submit={alias ? 'Save' : 'Create alias'} isPending={save.isPending} onCancel={onDone} />}
    >
      {!alias && (
        <div className="pair">
          <TextInput
            label="Local part"
            description="The part before the @. Blank: catch-all"
            placeholder="sales"
            data-autofocus
            autoComplete="off"
            spellCheck={false}
            {...form.textField('source')}
            error={form.errorOf('source_local_part')}
          />
          <DomainSelect
            label="Domain"
            description="The part after the @"
            placeholder="Select a domain"
            withAddresses
            {...form.field('domain_id')}
            value={domain_id}
          />
        </div>
      )}
      <Addresses
        label="Destinations"
        description="Press Enter after each address"
        placeholder="alice@example.com"
        {...form.field('destinations')}
        error={form.errorOf('destination')}
      />
      <RoutePreview addresses={form.values.destinations} />
      <Switch label="Active" {...form.checkbox('active')} />
      {alias && (
        <ConflictDialog
          error={save.error}
          form={form}
          version={version}
          labels={LABELS}
          load={async () => initial(await fetchData(client.GET('/aliases/{id}', { params: { path: { id: alias.id } } })), domainId)}
          onClose={save.reset}
          onSave={save.mutate}
        />
      )}
    </Form>
  )
}

const LABELS = { destinations: 'Destinations', active: 'Active' }

function initial(alias: Alias | undefined, domainId: string | undefined): Values {
  return {
    source: alias?.source_local_part ?? '',
    domain_id: alias?.domain_id ?? domainId ?? null,
    destinations: alias?.destination.split(',') ?? [],
    active: alias?.active ?? true,
  }
}

interface Values {
  source: string
  domain_id: string | null
  destinations: string[]
  active: boolean
}

function shorten(destination: string): string {
  const addresses = destination.split(',')
  const hidden = addresses.length - MAX_SHOWN
  return addresses.slice(0, MAX_SHOWN).join(', ') + (hidden > 0 ? ` and ${formatNumber(hidden)} more` : '')
}

/** The current routing of the destinations, in a box of fixed size. */
function RoutePreview({ addresses }: { addresses: readonly string[] }) {
  const [debounced] = useDebouncedValue(addresses, 250)
  return (
    <div className="note preview" role="region" aria-label="Routing preview" tabIndex={0}>
      <Icon name="route" />
      <div>
        <p className="note-title">Current routing of these addresses</p>
        {debounced.length === 0 && <p className="muted">Add an address to see its routing.</p>}
        {debounced.slice(0, MAX_SHOWN).map((address) => (
          <Destination key={address} address={address} />
        ))}
        {debounced.length > MAX_SHOWN && <p className="muted">and {formatNumber(debounced.length - MAX_SHOWN)} more</p>}
      </div>
    </div>
  )
}

function DeleteAlias({ alias, onClose }: { alias: Alias; onClose: () => void }) {
  const domain = useQuery(domainQuery(alias.domain_id)).data
  return (
    <ConfirmDelete
      opened
      onClose={onClose}
      title="Delete alias"
      action="Delete alias"
      request={() => fetchData(client.DELETE('/aliases/{id}', { params: { path: { id: alias.id } } }))}
      invalidates={INVALIDATES}
      message="Alias deleted."
    >
      Mail for{' '}
      <strong className="break">
        {alias.source_local_part || 'all other addresses'}@{domain?.unicode_name}
      </strong>{' '}
      is no longer forwarded to {shorten(alias.destination)}. It is rejected unless a mailbox, another alias or the catch-all of the domain
      matches.
    </ConfirmDelete>
  )
}
