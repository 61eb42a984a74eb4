import { Button, Modal, Select, TextInput } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { client, fetchData, fetchPage, type Schema } from '../../api/client'
import { SiblingTabs } from '../../layout/Navigation'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { Badge } from '../../ui/Badge'
import { ConfirmDelete } from '../../ui/Confirm'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { Form, FormButtons } from '../../ui/Form'
import { Icon } from '../../ui/Icon'
import { NewButton } from '../../ui/NewButton'
import { NoMatches } from '../../ui/NoMatches'
import { Page } from '../../ui/Page'
import { RowButton } from '../../ui/RowButton'
import { Time } from '../../ui/Time'
import { useApiMutation, useForm } from '../../ui/useForm'
import { DomainFilter } from '../domains/DomainFilter'
import { DomainName, DomainSelect, useOnlyDomain } from '../domains/DomainSelect'
import { GroupName, GroupSelect } from './groups'
import { ImportForm } from './ImportForm'
import { REASON_CHOICES, REASON_NAMES, type Reason } from './reasons'

type Suppression = Schema['SuppressionRecord']

const route = getRouteApi('/app/suppressions')
const FILTERS = ['q', 'domain', 'reason', 'group']

export function Suppressions() {
  const search = route.useSearch()
  const [, change] = useSearchParams()
  const [removed, setRemoved] = useState<Suppression | null>(null)
  const isReadOnly = useDenialReason('suppression.write')
  const filter = {
    ...(search.q && { address: search.q }),
    ...(search.domain && { domain_id: search.domain }),
    ...(search.reason && { reason: search.reason as Reason }),
    ...(search.group && { group_id: search.group }),
  }
  const close = () => change({ new: undefined, import: undefined })
  const createButton = <NewButton action="suppression.write" label="Add suppression" />
  return (
    <Page
      title="Suppressions"
      lead="Addresses to which a domain sends nothing by API or with an API key."
      actions={
        <>
          <Allowed action="suppression.import">
            <Button variant="default" onClick={() => change({ import: 'yes' })}>
              Import
            </Button>
          </Allowed>
          <Button
            component="a"
            href={`/api/v1/suppressions/export?${new URLSearchParams(filter)}`}
            download
            variant="default"
            leftSection={<Icon name="down_load" size={16} />}
          >
            Export
          </Button>
          {createButton}
        </>
      }
    >
      <SiblingTabs screen="suppressions" label="Suppressions" first="Suppressions" />
      <Filters names={FILTERS}>
        <TextFilter name="q" label="Search by address" main />
        <DomainFilter />
        <ChoiceFilter name="reason" label="Reason" data={REASON_CHOICES} />
        <GroupSelect
          className="filter"
          aria-label="Unsubscribe group"
          placeholder="Unsubscribe group"
          value={search.group ?? null}
          onChange={(value) => change({ group: value ?? undefined })}
          {...(search.domain && { domain: search.domain })}
        />
      </Filters>
      <DataList
        label="Suppressions"
        queryKey={['suppressions', 'list', filter]}
        load={(page) =>
          fetchPage(client.GET('/suppressions', { params: { query: { ...filter, ...page, sort: page.sort as 'created_at' } } }))
        }
        columns={columns(setRemoved)}
        rowKey={(row) => row.id}
        empty={
          FILTERS.some((name) => search[name as 'q']) ? (
            <NoMatches what="suppressions" filters={FILTERS} />
          ) : (
            <EmptyState icon="check" title="No suppressions" action={createButton}>
              An address is suppressed after a hard bounce or a complaint, when its owner unsubscribes, or when you add it.
            </EmptyState>
          )
        }
      />
      <Modal opened={search.new !== undefined && !isReadOnly} onClose={close} title="Add suppression">
        <SuppressionForm {...(search.domain && { domainId: search.domain })} onDone={close} />
      </Modal>
      <Modal opened={search.import !== undefined && !isReadOnly} onClose={close} title="Import suppressions" size="lg">
        <ImportForm onDone={close} />
      </Modal>
      {removed && <RemoveSuppression suppression={removed} onClose={() => setRemoved(null)} />}
    </Page>
  )
}

function columns(onRemove: (row: Suppression) => void): readonly Column<Suppression>[] {
  return [
    {
      header: 'Address',
      sort: 'address',
      wide: true,
      cell: (row) => (
        <span className="strong" title={row.address}>
          {row.address}
        </span>
      ),
    },
    { header: 'Reason', cell: (row) => <Badge tone={row.reason === 'complaint' ? 'bad' : 'warn'}>{REASON_NAMES[row.reason]}</Badge> },
    {
      header: 'Holds for',
      cell: (row) => (row.group_id ? <GroupName id={row.group_id} /> : <span className="muted">all mail</span>),
    },
    { header: 'Domain', cell: (row) => <DomainName id={row.domain_id} /> },
    {
      header: 'Message',
      cell: (row) =>
        row.source_message_id ? (
          <Link to={PATHS.message} params={{ id: row.source_message_id }} aria-label={`Show message that suppressed ${row.address}`}>
            Show
          </Link>
        ) : (
          <span className="muted">–</span>
        ),
    },
    { header: 'Since', sort: 'created_at', cell: (row) => <Time at={row.created_at} form="ago" /> },
    {
      header: '',
      align: 'right',
      cell: (row) => <RowButton action="suppression.write" name="trash" label={`Remove ${row.address}`} onClick={() => onRemove(row)} />,
    },
  ]
}

interface Values {
  address: string
  domain_id: string | null
  reason: Reason
  group_id: string | null
}

function SuppressionForm({ domainId, onDone }: { domainId?: string; onDone: () => void }) {
  const onlyDomain = useOnlyDomain()
  const save = useApiMutation({
    request: ({ address, domain_id, reason, group_id }: Values) =>
      fetchData(
        client.POST('/suppressions', {
          body: { address: address.trim(), domain_id: domain_id ?? '', reason, ...(group_id && { group_id }) },
        }),
      ),
    invalidates: ['suppressions'],
    message: ({ address }: Suppression) => `${address} is suppressed.`,
    onSuccess: () => {
      form.markSaved()
      onDone()
    },
  })
  const form = useForm<Values>({ address: '', domain_id: domainId ?? null, reason: 'manual', group_id: null }, save.error)
  const domain_id = form.values.domain_id ?? onlyDomain
  return (
    <Form
      onSubmit={() => save.mutate({ ...form.values, domain_id })}
      error={save.error}
      isDirty={form.isDirty}
      formFields={form.names}
      actions={<FormButtons submit="Add suppression" isPending={save.isPending} onCancel={onDone} />}
    >
      <TextInput
        label="Address"
        placeholder="someone@example.net"
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        {...form.textField('address')}
      />
      <DomainSelect label="Sending domain" placeholder="Select a domain" {...form.field('domain_id')} value={domain_id} />
      <Select
        label="Reason"
        data={REASON_CHOICES.map(({ value, label }) => ({ value, label }))}
        allowDeselect={false}
        value={form.values.reason}
        onChange={(value) => form.set('reason', (value ?? 'manual') as Reason)}
        error={form.errorOf('reason')}
      />
      <GroupSelect
        label="Unsubscribe group"
        description="Blank: all mail of the domain"
        placeholder="All mail"
        {...form.field('group_id')}
        {...(domain_id && { domain: domain_id })}
      />
    </Form>
  )
}

function RemoveSuppression({ suppression, onClose }: { suppression: Suppression; onClose: () => void }) {
  const [note, setNote] = useState('')
  return (
    <ConfirmDelete
      opened
      onClose={onClose}
      title="Remove suppression"
      action="Remove"
      request={() =>
        fetchData(
          client.DELETE('/suppressions/{id}', {
            params: { path: { id: suppression.id }, query: { ...(note.trim() && { note: note.trim() }) } },
          }),
        )
      }
      invalidates={['suppressions']}
      message={`${suppression.address} gets mail again.`}
    >
      <div className="stack">
        <p>
          <strong className="break">{suppression.address}</strong> gets mail of <DomainName id={suppression.domain_id} /> again.
          {suppression.reason === 'complaint' && ' Its owner reported a message as spam: remove the suppression only if they asked for it.'}
          {suppression.reason === 'unsubscribe' && ' Its owner unsubscribed: remove the suppression only if they asked for it.'}
          {suppression.reason === 'hard_bounce' && ' If the address still does not exist, the next message suppresses it again.'}
        </p>
        <TextInput
          label="Note"
          description="Kept in the audit log"
          maxLength={500}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
          data-autofocus
        />
      </div>
    </ConfirmDelete>
  )
}
