import { Modal, TextInput } from '@mantine/core'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { useDenialReason } from '../../access/Allowed'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { Badge } from '../../ui/Badge'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { Filters, TextFilter } from '../../ui/Filters'
import { Form, FormButtons } from '../../ui/Form'
import { NewButton } from '../../ui/NewButton'
import { NoMatches } from '../../ui/NoMatches'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { useApiMutation, useForm } from '../../ui/useForm'
import { DomainFilter } from '../domains/DomainFilter'
import { DomainName, DomainSelect } from '../domains/DomainSelect'

type TemplateRecord = Schema['TemplateRecord']

const route = getRouteApi('/app/templates')

export function Templates() {
  const search = route.useSearch()
  const [, change] = useSearchParams()
  const isReadOnly = useDenialReason('template.write')
  const filter = { ...(search.q && { q: search.q }), ...(search.domain && { domain_id: search.domain }) }
  const filters = ['q', 'domain'] as const
  const createButton = <NewButton action="template.write" label="New template" />
  const close = () => change({ new: undefined })
  return (
    <Page title="Templates" lead="Subject, text and HTML of messages, with variables. Applications send them by ID." actions={createButton}>
      <Filters names={filters}>
        <TextFilter name="q" label="Search by name" main />
        <DomainFilter />
      </Filters>
      <DataList
        label="Templates"
        queryKey={['templates', 'list', filter]}
        load={(page) => fetchPage(client.GET('/templates', { params: { query: { ...filter, ...page, sort: page.sort as 'created_at' } } }))}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        empty={
          filters.some((name) => search[name]) ? (
            <NoMatches what="templates" filters={filters} />
          ) : (
            <EmptyState icon="code" title="No templates yet" action={createButton}>
              A template is written once, and sent with different values: an order, a password link, an invoice.
            </EmptyState>
          )
        }
      />
      <Modal opened={search.new !== undefined && !isReadOnly} onClose={close} title="New template" size="lg">
        <NewTemplate onCancel={close} />
      </Modal>
    </Page>
  )
}

const COLUMNS: readonly Column<TemplateRecord>[] = [
  {
    header: 'Name',
    sort: 'name',
    cell: (row) => (
      <Link className="row-link break" to={PATHS.template} params={{ id: row.id }}>
        {row.name}
      </Link>
    ),
  },
  { header: 'Subject', wide: true, cell: (row) => <span className="break">{row.subject}</span> },
  { header: 'Domain', cell: (row) => <TemplateDomain id={row.domain_id} /> },
  { header: 'State', cell: (row) => <TemplateState template={row} /> },
  { header: 'Changed', sort: 'updated_at', cell: (row) => <Time at={row.updated_at} form="ago" /> },
]

export function TemplateDomain({ id }: { id: string | null }) {
  return id ? <DomainName id={id} /> : <>All domains</>
}

export function TemplateState({ template }: { template: TemplateRecord }) {
  if (template.published_version === null) return <Badge>Draft</Badge>
  if (template.unpublished_changes) return <Badge tone="info">Unpublished changes</Badge>
  return <Badge tone="good">Version {template.published_version}</Badge>
}

/** What a new template contains, so that its preview shows something. */
const STARTER = {
  subject: 'Hello {{ name }}',
  html_body: '<h1>Hello {{ name }}</h1>\n<p>Write your message here.</p>\n',
  variables: [{ name: 'name', required: true, example: 'Alice' }],
}

function NewTemplate({ onCancel }: { onCancel: () => void }) {
  const navigate = useNavigate()
  const save = useApiMutation({
    request: ({ name, domain_id }: { name: string; domain_id: string | null }) =>
      fetchData(client.POST('/templates', { body: { ...STARTER, name: name.trim(), ...(domain_id && { domain_id }) } })),
    invalidates: ['templates'],
    message: 'Template created.',
    onSuccess: (created) => {
      form.markSaved()
      void navigate({ to: PATHS.template, params: { id: created.id } })
    },
  })
  const form = useForm<{ name: string; domain_id: string | null }>({ name: '', domain_id: null }, save.error)
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      isDirty={form.isDirty}
      formFields={form.names}
      actions={<FormButtons submit="Create template" isPending={save.isPending} onCancel={onCancel} />}
    >
      <TextInput label="Name" placeholder="Order sent" data-autofocus autoComplete="off" {...form.textField('name')} />
      <DomainSelect
        label="Domain"
        placeholder="All domains"
        description="Only senders of this domain use it, and it is deleted with the domain. Can't be changed later."
        clearable
        {...form.field('domain_id')}
      />
    </Form>
  )
}
