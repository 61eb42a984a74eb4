import { Button, FileButton, SegmentedControl, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type DragEvent, useEffect, useRef, useState } from 'react'
import { truncateAttachments } from '../../api/recordedCalls'
import { fetchData, client, type Schema } from '../../api/client'
import { fieldErrors } from '../../api/errors'
import { PATHS } from '../../paths'
import { fromLocal, OWN_ZONE } from '../../timeZone'
import { Addresses } from '../../ui/Addresses'
import { useAccount } from '../../access/account'
import { formatBytes } from '../../units'
import { domainsQuery } from '../domains/DomainSelect'
import { Form } from '../../ui/Form'
import { useForm } from '../../ui/useForm'
import { Icon } from '../../ui/Icon'
import { Page } from '../../ui/Page'
import { RequestButton } from '../../ui/RequestSnippet'
import { Tags } from '../../ui/Tags'
import { notify } from '../../ui/notify'
import { deleteDraft, type Format, saveDraft, loadDraft } from './draft'
import { TemplateFields, toTemplateValues } from './TemplateFields'
import { TestAddresses } from './TestAddresses'

const route = getRouteApi('/app/send')

interface Values {
  from: string
  from_name: string
  to: string[]
  cc: string[]
  bcc: string[]
  reply_to: string
  subject: string
  body: string
  tags: string[]
  template: string | null
  variables: Record<string, string>
  /** A local time in the browser's zone; blank: now. */
  scheduled_at: string
}

interface Draft {
  values: Values
  format: Format
  files: readonly File[]
}

export function Send() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { id: accountId } = useAccount()
  const query = JSON.stringify(search)
  const blank: Values = {
    from: search.from ?? '',
    from_name: '',
    to: search.to ? [search.to] : [],
    cc: [],
    bcc: [],
    reply_to: '',
    subject: search.subject ?? '',
    body: '',
    tags: [],
    template: search.template ?? null,
    variables: {},
    scheduled_at: '',
  }
  const [draft, setDraft] = useState(() => loadDraft<Values>(accountId, query))
  const [files, setFiles] = useState<readonly File[]>([])
  const [format, setFormat] = useState<Format>(draft?.format ?? (search.template ? 'template' : 'text'))
  // One idempotency key per message: a second click or a retry after a lost response sends it once.
  const key = useRef(newKey())
  const send = useMutation({
    mutationFn: async (message: Draft) =>
      fetchData(client.POST('/send', { params: { header: { 'Idempotency-Key': key.current } }, body: await composeBody(message) })),
    onSuccess: async (sent) => {
      deleteDraft()
      const recipients = sent.recipients.length === 1 ? sent.recipients[0]?.address : `${sent.recipients.length} recipients`
      notify(sent.status === 'scheduled' ? `Scheduled for ${recipients}.` : `Accepted for ${recipients}.`)
      await queries.invalidateQueries({ queryKey: ['messages'] })
      void navigate({ to: PATHS.message, params: { id: sent.id } })
    },
  })
  const form = useForm<Values>({ ...blank, ...draft?.values }, send.error)
  useEffect(() => {
    if (JSON.stringify(form.values) === JSON.stringify(blank)) deleteDraft()
    else
      saveDraft({
        accountId,
        query,
        values: form.values,
        format,
        files: files.length ? files.map((file) => file.name) : (draft?.files ?? []),
      })
  }, [form.values, format, files])
  const [showsMore, setShowsMore] = useState(() =>
    [draft?.values.cc, draft?.values.bcc, draft?.values.tags, draft?.values.reply_to].some((each) => each?.length),
  )
  function discardDraft() {
    setDraft(null)
    setFiles([])
    form.reset(blank)
  }
  const domains = useQuery(domainsQuery()).data?.rows
  const example = domains?.find((domain) => domain.active && domain.sending_enabled)?.unicode_name ?? 'example.com'
  function submit() {
    const message = { values: form.values, format, files }
    if (!isSame(send.variables, message)) key.current = newKey()
    send.mutate(message)
  }
  const bodyError = form.errorOf('text_body') ?? form.errorOf('html_body')
  return (
    <Page title="Send" lead="Send one message from any address of a domain that has sending enabled.">
      <div
        className="card compose"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => addDroppedFiles(event, (added) => setFiles([...files, ...added]))}
      >
        <Form
          onSubmit={submit}
          error={send.error}
          formFields={[
            ...form.names,
            'from.email',
            'from.name',
            'text_body',
            'html_body',
            'template_id',
            ...Object.keys(fieldErrors(send.error)).filter((name) => name.startsWith('variables.')),
          ]}
          actions={
            <>
              <RequestButton
                call={async () => ({
                  method: 'POST',
                  path: '/send',
                  body: truncateAttachments(await composeBody({ values: form.values, format, files })),
                })}
              />
              <Button type="submit" loading={send.isPending} leftSection={<Icon name="send" size={16} />}>
                Send
              </Button>
            </>
          }
        >
          {draft && <DraftNote files={draft.files} onDiscard={discardDraft} />}
          <div className="pair">
            <TextInput
              label="From"
              type="email"
              placeholder={`shop@${example}`}
              autoComplete="off"
              {...form.textField('from')}
              error={form.errorOf('from') ?? form.errorOf('from.email')}
            />
            <TextInput
              label="Sender name"
              placeholder="The Shop"
              autoComplete="off"
              {...form.textField('from_name')}
              error={form.errorOf('from.name')}
            />
          </div>
          <Addresses label="To" placeholder="customer@elsewhere.example" {...form.field('to')} error={findListError(send.error, 'to')} />
          <div className="row">
            {!showsMore && (
              <Button variant="subtle" size="compact-sm" onClick={() => setShowsMore(true)}>
                Cc, Bcc, Reply-To and tags
              </Button>
            )}
            <TestAddresses onChoose={(address) => form.set('to', [...new Set([...form.values.to, address])])} />
          </div>
          {showsMore && (
            <>
              <div className="pair">
                <Addresses label="Cc" {...form.field('cc')} error={findListError(send.error, 'cc')} />
                <Addresses label="Bcc" {...form.field('bcc')} error={findListError(send.error, 'bcc')} />
              </div>
              <div className="pair">
                <TextInput label="Reply-To" type="email" autoComplete="off" {...form.textField('reply_to')} />
                <Tags
                  label="Tags"
                  description="For search and statistics; at most 10"
                  maxTags={10}
                  acceptValueOnBlur
                  {...form.field('tags')}
                />
              </div>
            </>
          )}
          <TextInput
            label="Subject"
            autoComplete="off"
            {...(format === 'template' && { placeholder: "The template's subject" })}
            {...form.textField('subject')}
          />
          <div className="stack-small">
            <div className="between">
              <label htmlFor="compose-body" className="field-label">
                Message
              </label>
              <SegmentedControl
                size="xs"
                aria-label="Message format"
                value={format}
                onChange={(value) => setFormat(value as Format)}
                data={[
                  { value: 'text', label: 'Text' },
                  { value: 'html', label: 'HTML' },
                  { value: 'template', label: 'Template' },
                ]}
              />
            </div>
            {format === 'template' ? (
              <TemplateFields
                sender={form.values.from}
                template={form.values.template}
                variables={form.values.variables}
                onTemplate={(id) => form.set('template', id)}
                onVariables={(variables) => form.set('variables', variables)}
                error={send.error}
              />
            ) : (
              <Textarea
                id="compose-body"
                rows={14}
                resize="vertical"
                {...form.textField('body')}
                error={bodyError}
                {...(format === 'html' && { classNames: { input: 'mono' }, placeholder: '<p>Hello …</p>' })}
              />
            )}
          </div>
          <Attachments files={files} onChange={setFiles} />
          <div className="pair">
            <TextInput
              type="datetime-local"
              label="Send later"
              description={`Time zone ${OWN_ZONE}; blank = now`}
              {...form.textField('scheduled_at')}
            />
          </div>
        </Form>
      </div>
    </Page>
  )
}

/** The error of a list field or of one of its items. */
function findListError(error: unknown, name: string): string | undefined {
  return Object.entries(fieldErrors(error)).find(([field]) => field === name || field.startsWith(`${name}[`))?.[1]
}

/** `crypto.randomUUID` exists on HTTPS and localhost only. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-')
}

function isSame(before: Draft | undefined, now: Draft): boolean {
  return before?.values === now.values && before.format === now.format && before.files === now.files
}

/** Shown above a restored draft, with the names of its files. */
function DraftNote({ files, onDiscard }: { files: readonly string[]; onDiscard: () => void }) {
  return (
    <div className="note" role="note">
      <Icon name="edit" />
      <div>
        <p>This is an unsent draft.{files.length > 0 && ` Attach its files again: ${files.join(', ')}.`}</p>
        <div>
          <Button size="xs" variant="default" onClick={onDiscard}>
            Discard draft
          </Button>
        </div>
      </div>
    </div>
  )
}

function Attachments({ files, onChange }: { files: readonly File[]; onChange: (files: readonly File[]) => void }) {
  const total = files.reduce((sum, file) => sum + file.size, 0)
  return (
    <div className="files">
      <div className="row">
        <FileButton multiple onChange={(added) => onChange([...files, ...added])}>
          {(props) => (
            <Button {...props} variant="default" size="xs" leftSection={<Icon name="clip" size={14} />}>
              Attach files
            </Button>
          )}
        </FileButton>
        <span className="muted small">{files.length ? `${formatBytes(total)} in total` : 'or drop files here'}</span>
      </div>
      {files.length > 0 && (
        <ul className="stack-small" aria-label="Attached files" tabIndex={0}>
          {files.map((file, index) => (
            <li key={`${file.name} ${index}`} className="row">
              <Icon name="clip" size={14} />
              <span className="break">{file.name}</span>
              <span className="muted small">{formatBytes(file.size)}</span>
              <Button
                variant="subtle"
                color="gray"
                size="compact-xs"
                aria-label={`Remove ${file.name}`}
                onClick={() => onChange(files.filter((_, position) => position !== index))}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function addDroppedFiles(event: DragEvent, add: (files: File[]) => void): void {
  event.preventDefault()
  if (event.dataTransfer.files.length) add([...event.dataTransfer.files])
}

async function composeBody({ values, format, files }: Draft): Promise<Schema['SendBody']> {
  const scheduledAt = fromLocal(values.scheduled_at, OWN_ZONE)
  const toRecipients = (addresses: readonly string[]) => addresses.map((email) => ({ email }))
  return {
    from: { email: values.from.trim(), ...(values.from_name && { name: values.from_name }) },
    to: toRecipients(values.to),
    ...(format === 'template' ? toTemplateValues(values) : { subject: values.subject }),
    ...(format === 'text' && { text_body: values.body }),
    ...(format === 'html' && { html_body: values.body }),
    ...(values.cc.length && { cc: toRecipients(values.cc) }),
    ...(values.bcc.length && { bcc: toRecipients(values.bcc) }),
    ...(values.reply_to && { reply_to: { email: values.reply_to.trim() } }),
    ...(values.tags.length && { tags: values.tags }),
    ...(scheduledAt && { scheduled_at: scheduledAt }),
    ...(files.length && { attachments: await Promise.all(files.map(toAttachment)) }),
  }
}

async function toAttachment(file: File): Promise<Schema['AttachmentBody']> {
  const isPlain = /^[\w.+-]+\/[\w.+-]+$/.test(file.type) && !/^(multipart|message)\//.test(file.type)
  return { filename: file.name, content_type: isPlain ? file.type : 'application/octet-stream', content: await toBase64(file) }
}

function toBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error ?? new Error('The file could not be read.'))
    reader.readAsDataURL(file)
  })
}
