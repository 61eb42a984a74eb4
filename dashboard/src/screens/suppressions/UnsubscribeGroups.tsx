import { Group, Modal, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useDenialReason } from '../../access/Allowed'
import { client, fetchData, fetchPage, type Schema } from '../../api/client'
import { SiblingTabs } from '../../layout/Navigation'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { ConfirmDelete } from '../../ui/Confirm'
import { ConflictDialog, useVersion } from '../../ui/ConflictDialog'
import { CopyableCode } from '../../ui/Copy'
import { type Column, DataList, LoadingLines } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ErrorNote } from '../../ui/ErrorNote'
import { Filters } from '../../ui/Filters'
import { Form, FormButtons } from '../../ui/Form'
import { NewButton } from '../../ui/NewButton'
import { NoMatches } from '../../ui/NoMatches'
import { Page } from '../../ui/Page'
import { RowButton } from '../../ui/RowButton'
import { Time } from '../../ui/Time'
import { useApiMutation, useForm } from '../../ui/useForm'
import { DomainFilter } from '../domains/DomainFilter'
import { DomainName, DomainSelect, useOnlyDomain } from '../domains/DomainSelect'

type UnsubscribeGroup = Schema['UnsubscribeGroupRecord']

const route = getRouteApi('/app/unsubscribe-groups')
const INVALIDATES = ['unsubscribe-groups', 'suppressions']

export function UnsubscribeGroups() {
  const search = route.useSearch()
  const [, change] = useSearchParams()
  const isReadOnly = useDenialReason('unsubscribe_group.write')
  const [deleted, setDeleted] = useState<UnsubscribeGroup | null>(null)
  const close = () => change({ new: undefined, edit: undefined })
  const createButton = <NewButton action="unsubscribe_group.write" label="New group" />
  return (
    <Page
      title="Unsubscribe groups"
      lead="Messages from which recipients can unsubscribe with one click, such as a newsletter."
      actions={createButton}
    >
      <SiblingTabs screen="suppressions" label="Suppressions" first="Suppressions" />
      <Filters names={['domain']}>
        <DomainFilter />
      </Filters>
      <DataList
        label="Unsubscribe groups"
        queryKey={['unsubscribe-groups', 'list', search.domain]}
        load={(page) =>
          fetchPage(
            client.GET('/unsubscribe-groups', {
              params: { query: { ...page, sort: page.sort as 'created_at', ...(search.domain && { domain_id: search.domain }) } },
            }),
          )
        }
        columns={columns((row) => change({ edit: row.id }), setDeleted)}
        rowKey={(row) => row.id}
        empty={
          search.domain ? (
            <NoMatches what="unsubscribe groups" filters={['domain']} />
          ) : (
            <EmptyState icon="people" title="No unsubscribe groups" action={createButton}>
              Send with <code>unsubscribe: {'{"group_id": …}'}</code>, and the message gets a link by which its recipient leaves the group.
            </EmptyState>
          )
        }
      />
      <Modal opened={search.new !== undefined && !isReadOnly} onClose={close} title="New unsubscribe group">
        <GroupForm {...(search.domain && { domainId: search.domain })} onDone={close} />
      </Modal>
      <Modal opened={search.edit !== undefined && !isReadOnly} onClose={close} title="Edit unsubscribe group">
        {search.edit && <EditGroup id={search.edit} onDone={close} />}
      </Modal>
      {deleted && <DeleteGroup group={deleted} onClose={() => setDeleted(null)} />}
    </Page>
  )
}

function columns(onEdit: (row: UnsubscribeGroup) => void, onDelete: (row: UnsubscribeGroup) => void): readonly Column<UnsubscribeGroup>[] {
  return [
    { header: 'Name', wide: true, cell: (row) => <span className="strong">{row.name}</span> },
    { header: 'Domain', cell: (row) => <DomainName id={row.domain_id} /> },
    { header: 'ID', cell: (row) => <CopyableCode value={row.id} what={`ID of ${row.name}`} /> },
    {
      header: 'Unsubscribed',
      cell: (row) => (
        <Link to={PATHS.suppressions} search={{ group: row.id }} aria-label={`Show suppressions of ${row.name}`}>
          Show
        </Link>
      ),
    },
    { header: 'Created', sort: 'created_at', cell: (row) => <Time at={row.created_at} form="ago" /> },
    {
      header: '',
      align: 'right',
      cell: (row) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <RowButton action="unsubscribe_group.write" name="edit" label={`Edit ${row.name}`} onClick={() => onEdit(row)} />
          <RowButton action="unsubscribe_group.write" name="trash" label={`Delete ${row.name}`} onClick={() => onDelete(row)} />
        </Group>
      ),
    },
  ]
}

function EditGroup({ id, onDone }: { id: string; onDone: () => void }) {
  const { data, error } = useQuery({ queryKey: ['unsubscribe-groups', 'one', id], queryFn: () => fetchGroup(id) })
  if (!data) return error ? <ErrorNote error={error} /> : <LoadingLines />
  return <GroupForm group={data} onDone={onDone} />
}

function fetchGroup(id: string): Promise<UnsubscribeGroup> {
  return fetchData(client.GET('/unsubscribe-groups/{id}', { params: { path: { id } } }))
}

interface Values {
  name: string
  domain_id: string | null
}

function GroupForm({ group, domainId, onDone }: { group?: UnsubscribeGroup; domainId?: string; onDone: () => void }) {
  const version = useVersion(group && `/unsubscribe-groups/${group.id}`)
  const onlyDomain = useOnlyDomain()
  const save = useApiMutation({
    request: ({ name, domain_id }: Values) =>
      group
        ? fetchData(
            client.PATCH('/unsubscribe-groups/{id}', { params: { path: { id: group.id }, header: version.header }, body: { name } }),
          )
        : fetchData(client.POST('/unsubscribe-groups', { body: { name, domain_id: domain_id ?? '' } })),
    invalidates: INVALIDATES,
    message: group ? 'Group saved.' : 'Group created.',
    onSuccess: () => {
      form.markSaved()
      onDone()
    },
  })
  const initial = (from: UnsubscribeGroup | undefined): Values => ({
    name: from?.name ?? '',
    domain_id: from?.domain_id ?? domainId ?? null,
  })
  const form = useForm<Values>(initial(group), save.error)
  const domain_id = form.values.domain_id ?? onlyDomain
  return (
    <Form
      onSubmit={() => save.mutate({ ...form.values, domain_id })}
      error={save.error}
      isDirty={form.isDirty}
      formFields={form.names}
      actions={<FormButtons submit={group ? 'Save' : 'Create group'} isPending={save.isPending} onCancel={onDone} />}
    >
      <TextInput
        label="Name"
        description="Recipients see it when they unsubscribe"
        placeholder="Monthly news"
        data-autofocus
        autoComplete="off"
        {...form.textField('name')}
      />
      {!group && <DomainSelect label="Sending domain" placeholder="Select a domain" {...form.field('domain_id')} value={domain_id} />}
      {group && (
        <ConflictDialog
          error={save.error}
          form={form}
          version={version}
          labels={{ name: 'Name' }}
          load={async () => initial(await fetchGroup(group.id))}
          onClose={save.reset}
          onSave={save.mutate}
        />
      )}
    </Form>
  )
}

function DeleteGroup({ group, onClose }: { group: UnsubscribeGroup; onClose: () => void }) {
  return (
    <ConfirmDelete
      opened
      onClose={onClose}
      title="Delete unsubscribe group"
      action="Delete group"
      request={() => fetchData(client.DELETE('/unsubscribe-groups/{id}', { params: { path: { id: group.id } } }))}
      invalidates={INVALIDATES}
      message="Group deleted."
    >
      The links in messages of <strong className="break">{group.name}</strong> stop working, and who has unsubscribed is forgotten.
    </ConfirmDelete>
  )
}
