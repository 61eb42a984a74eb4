import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { PATHS } from '../../paths'
import { Badge } from '../../ui/Badge'
import { ConfirmDelete } from '../../ui/Confirm'
import { CopyableCode } from '../../ui/Copy'
import { type Column, DataList, LoadingLines } from '../../ui/DataList'
import { DetailPage } from '../../ui/DetailPage'
import { DetailTabs } from '../../ui/DetailTabs'
import { EmptyState } from '../../ui/Empty'
import { ErrorBar } from '../../ui/ErrorBar'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Facts, Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'
import { Editor } from './Editor'
import { Preview } from './Preview'
import { TemplateDomain, TemplateState } from './Templates'

type TemplateDetail = Schema['TemplateDetail']
type Version = Schema['TemplateVersionRecord']

const route = getRouteApi('/app/templates/$id')

export function Template() {
  const { id } = route.useParams()
  const query = useQuery({
    queryKey: ['templates', 'one', id],
    queryFn: () => fetchData(client.GET('/templates/{id}', { params: { path: { id } } })),
  })
  const canEdit = useDenialReason('template.write') === null
  return (
    <DetailPage
      kind="Template"
      list={{ to: PATHS.templates, label: 'Templates' }}
      query={query}
      title={(data) => data.name}
      lead={(data) => (
        <>
          <TemplateState template={data} /> <TemplateDomain id={data.domain_id} />
        </>
      )}
      actions={(data) => <Actions template={data} />}
    >
      {(data) => (
        <>
          {canEdit && data.warnings.length > 0 && <Warnings warnings={data.warnings} />}
          <DetailTabs
            tabs={[
              canEdit
                ? { value: 'edit', label: 'Edit', content: <Editor key={data.id} template={data} /> }
                : { value: 'preview', label: 'Preview', content: <StoredPreview template={data} version={data.published_version} /> },
              { value: 'versions', label: 'Versions', content: <Versions template={data} /> },
              { value: 'settings', label: 'Settings', content: <Settings template={data} /> },
            ]}
          />
        </>
      )}
    </DetailPage>
  )
}

function Actions({ template }: { template: TemplateDetail }) {
  const publish = useApiMutation({
    request: () => fetchData(client.POST('/templates/{id}/publish', { params: { path: { id: template.id } }, body: {} })),
    invalidates: ['templates'],
    message: (published) => `Version ${published.published_version} is published.`,
  })
  return (
    <>
      {template.published_version !== null && (
        <Button
          variant="default"
          leftSection={<Icon name="send" size={16} />}
          renderRoot={(props) => <Link to={PATHS.send} search={{ template: template.id }} {...props} />}
        >
          Send
        </Button>
      )}
      <Allowed action="template.write">
        <Button disabled={!template.unpublished_changes} loading={publish.isPending} onClick={() => publish.mutate(undefined)}>
          Publish
        </Button>
      </Allowed>
      <ErrorBar error={publish.error} />
    </>
  )
}

function Warnings({ warnings }: { warnings: readonly string[] }) {
  return (
    <div className="note note-warn" role="note">
      <Icon name="warn" />
      <div>
        {warnings.map((warning) => (
          <p key={warning}>{warning}</p>
        ))}
      </div>
    </div>
  )
}

/** A stored version with the examples of its variables; null: the draft. */
function StoredPreview({ template, version }: { template: TemplateDetail; version: number | null }) {
  const body = version === null ? {} : { version }
  return (
    <Preview
      input={[version, template.updated_at]}
      queryKey={['stored', template.id]}
      request={() => fetchData(client.POST('/templates/{id}/render', { params: { path: { id: template.id } }, body }))}
    />
  )
}

function Versions({ template }: { template: TemplateDetail }) {
  const [shown, setShown] = useState<number | null>(null)
  return (
    <>
      <DataList
        label="Versions"
        queryKey={['templates', 'versions', template.id]}
        load={(page) =>
          fetchPage(
            client.GET('/templates/{id}/versions', {
              params: { path: { id: template.id }, query: { ...page, sort: page.sort as 'created_at' } },
            }),
          )
        }
        columns={versionColumns(setShown)}
        rowKey={(row) => String(row.version)}
        empty={
          <EmptyState icon="clock" title="Not published yet">
            Publish the draft: then it is version {template.version}, and can be sent.
          </EmptyState>
        }
      />
      <Modal opened={shown !== null} onClose={() => setShown(null)} title={`Version ${shown ?? ''}`} size="xl">
        {shown !== null && <VersionDetail template={template} version={shown} onDone={() => setShown(null)} />}
      </Modal>
    </>
  )
}

function versionColumns(onShow: (version: number) => void): readonly Column<Version>[] {
  return [
    {
      header: 'Version',
      cell: (row) => (
        <button type="button" className="link-like" onClick={() => onShow(row.version)}>
          Version {row.version}
        </button>
      ),
    },
    { header: 'Subject', wide: true, cell: (row) => <span className="break">{row.subject}</span> },
    { header: 'State', cell: (row) => (row.published ? <Badge tone="good">Published</Badge> : <Badge>Earlier</Badge>) },
    { header: 'Published', sort: 'created_at', cell: (row) => <Time at={row.created_at} form="ago" /> },
  ]
}

function VersionDetail({ template, version, onDone }: { template: TemplateDetail; version: number; onDone: () => void }) {
  const { data, error } = useQuery({
    queryKey: ['templates', 'version', template.id, version],
    queryFn: () =>
      fetchData(client.GET('/templates/{id}/versions/{version}', { params: { path: { id: template.id, version: String(version) } } })),
  })
  const publish = useApiMutation({
    request: () => fetchData(client.POST('/templates/{id}/publish', { params: { path: { id: template.id } }, body: { version } })),
    invalidates: ['templates'],
    message: `Version ${version} is published.`,
    onSuccess: onDone,
  })
  if (!data) return error ? <ErrorNote error={error} /> : <LoadingLines />
  return (
    <div className="stack">
      <StoredPreview template={template} version={version} />
      <div className="form-actions">
        {!data.published && (
          <Allowed action="template.write">
            <Button loading={publish.isPending} onClick={() => publish.mutate(undefined)}>
              Publish this version
            </Button>
          </Allowed>
        )}
      </div>
      <ErrorBar error={publish.error} />
    </div>
  )
}

function Settings({ template }: { template: TemplateDetail }) {
  return (
    <>
      <Section title="Template">
        <Facts
          rows={[
            ['ID', <CopyableCode value={template.id} what="ID" />],
            ['Domain', <TemplateDomain id={template.domain_id} />],
            ['Created', <Time at={template.created_at} />],
            ['Changed', <Time at={template.updated_at} />],
          ]}
        />
      </Section>
      <Allowed action="template.write">
        <DangerZone template={template} />
      </Allowed>
    </>
  )
}

function DangerZone({ template }: { template: TemplateDetail }) {
  const [isOpen, setOpen] = useState(false)
  const navigate = useNavigate()
  return (
    <Section title="Danger zone">
      <div>
        <Button color="red" variant="light" onClick={() => setOpen(true)}>
          Delete template
        </Button>
      </div>
      <ConfirmDelete
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Delete template"
        action="Delete template"
        name={template.name}
        request={() => fetchData(client.DELETE('/templates/{id}', { params: { path: { id: template.id } } }))}
        invalidates={['templates']}
        removes={['templates', 'one', template.id]}
        message="Template deleted."
        onDeleted={() => void navigate({ to: PATHS.templates, search: {} })}
      >
        The template <strong className="break">{template.name}</strong> and all its versions are deleted. Applications that send it get an
        error. Messages that are already accepted are not affected.
      </ConfirmDelete>
    </Section>
  )
}
