import { Button, FileButton, SegmentedControl, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type DragEvent, useEffect, useRef, useState } from 'react'
import { withShortFiles } from '../api/calls'
import { ask, client, type Schema } from '../api/client'
import { fieldFaults } from '../api/errors'
import { PATHS } from '../paths'
import { Addresses } from '../ui/Addresses'
import { useAccount } from '../ui/Allowed'
import { bytes } from '../ui/bytes'
import { domainsQuery } from '../ui/Domains'
import { Form } from '../ui/Form'
import { useFields } from '../ui/form'
import { Icon } from '../ui/Icon'
import { Page } from '../ui/Page'
import { RequestButton } from '../ui/Request'
import { Tags } from '../ui/Tags'
import { toast } from '../ui/Toasts'
import { dropDraft, keepDraft, keptDraft } from './send/draft'

const route = getRouteApi('/inside/send')

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
}

interface Letter {
  values: Values
  form: 'text' | 'html'
  files: readonly File[]
}

export function Send() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { id: whose } = useAccount()
  const address = JSON.stringify(search)
  const blank: Values = { from: search.from ?? '', from_name: '', to: search.to ? [search.to] : [], cc: [], bcc: [], reply_to: '', subject: search.subject ?? '', body: '', tags: [] }
  const [kept, setKept] = useState(() => keptDraft<Values>(whose, address))
  const [files, setFiles] = useState<readonly File[]>([])
  const [form_, setForm] = useState(kept?.form ?? 'text')
  // One key for one message: pressed twice, or again after the answer was lost, it is sent once.
  const key = useRef(newKey())
  const send = useMutation({
    mutationFn: async (letter: Letter) => ask(client.POST('/send', { params: { header: { 'Idempotency-Key': key.current } }, body: await messageOf(letter) })),
    onSuccess: async (sent) => {
      dropDraft()
      toast(`Accepted for ${sent.recipients.length === 1 ? sent.recipients[0]?.address : `${sent.recipients.length} recipients`}.`)
      await queries.invalidateQueries({ queryKey: ['messages'] })
      void navigate({ to: PATHS.message, params: { id: sent.id } })
    },
  })
  const form = useFields<Values>(kept?.values ?? blank, send.error)
  useEffect(() => {
    if (JSON.stringify(form.values) === JSON.stringify(blank)) dropDraft()
    else keepDraft({ whose, address, values: form.values, form: form_, files: files.length ? files.map((file) => file.name) : (kept?.files ?? []) })
  }, [form.values, form_, files])
  const [isMore, setMore] = useState(() => [kept?.values.cc, kept?.values.bcc, kept?.values.tags, kept?.values.reply_to].some((each) => each?.length))
  function beginAnew() {
    setKept(null)
    setFiles([])
    form.setAll(blank)
  }
  const domains = useQuery(domainsQuery()).data?.rows
  const example = domains?.find((domain) => domain.active && domain.sending_enabled)?.unicode_name ?? 'example.com'
  function submit() {
    const letter = { values: form.values, form: form_, files }
    if (!isSame(send.variables, letter)) key.current = newKey()
    send.mutate(letter)
  }
  const bodyFault = form.faultOf('text_body') ?? form.faultOf('html_body')
  return (
    <Page title="Send" lead="One message by the API, from any address of a domain that sends.">
      <div className="card compose" onDragOver={(event) => event.preventDefault()} onDrop={(event) => drop(event, (added) => setFiles([...files, ...added]))}>
        <Form
          onSubmit={submit}
          error={send.error}
          besides={[...form.names, 'from.email', 'from.name', 'text_body', 'html_body']}
          actions={
            <>
              <RequestButton call={async () => ({ method: 'POST', path: '/send', body: withShortFiles(await messageOf({ values: form.values, form: form_, files })) })} />
              <Button type="submit" loading={send.isPending} leftSection={<Icon name="send" size={16} />}>
                Send
              </Button>
            </>
          }
        >
          {kept && <Kept files={kept.files} onAnew={beginAnew} />}
          <div className="pair">
            <TextInput label="From" type="email" placeholder={`shop@${example}`} autoComplete="off" {...form.text('from')} error={form.faultOf('from') ?? form.faultOf('from.email')} />
            <TextInput label="Name" placeholder="The Shop" autoComplete="off" {...form.text('from_name')} error={form.faultOf('from.name')} />
          </div>
          <Addresses label="To" placeholder="customer@elsewhere.example" {...form.value('to')} error={faultsOf(send.error, 'to')} />
          {isMore ? (
            <>
              <div className="pair">
                <Addresses label="Copies (Cc)" {...form.value('cc')} error={faultsOf(send.error, 'cc')} />
                <Addresses label="Hidden copies (Bcc)" {...form.value('bcc')} error={faultsOf(send.error, 'bcc')} />
              </div>
              <div className="pair">
                <TextInput label="Answers go to" type="email" autoComplete="off" {...form.text('reply_to')} />
                <Tags label="Tags" description="To find it by, and count; at most ten" maxTags={10} acceptValueOnBlur {...form.value('tags')} />
              </div>
            </>
          ) : (
            <div>
              <Button variant="subtle" size="compact-sm" onClick={() => setMore(true)}>
                Copies, answers, tags
              </Button>
            </div>
          )}
          <TextInput label="Subject" autoComplete="off" {...form.text('subject')} />
          <div className="stack-small">
            <div className="between">
              <label htmlFor="compose-body" className="field-label">
                Message
              </label>
              <SegmentedControl
                size="xs"
                aria-label="Form of the message"
                value={form_}
                onChange={(value) => setForm(value as 'text' | 'html')}
                data={[
                  { value: 'text', label: 'Text' },
                  { value: 'html', label: 'HTML' },
                ]}
              />
            </div>
            <Textarea id="compose-body" rows={14} resize="vertical" {...form.text('body')} error={bodyFault} {...(form_ === 'html' && { classNames: { input: 'mono' }, placeholder: '<p>Hello …</p>' })} />
          </div>
          <Attachments files={files} onChange={setFiles} />
        </Form>
      </div>
    </Page>
  )
}

/** Faults of a list and of its members. */
function faultsOf(error: unknown, name: string): string | undefined {
  return Object.entries(fieldFaults(error)).find(([field]) => field === name || field.startsWith(`${name}[`))?.[1]
}

/** `crypto.randomUUID` exists on https and loopback only. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-')
}

function isSame(before: Letter | undefined, now: Letter): boolean {
  return before?.values === now.values && before.form === now.form && before.files === now.files
}

/** Says that a draft stands here, and which files it had. */
function Kept({ files, onAnew }: { files: readonly string[]; onAnew: () => void }) {
  return (
    <div className="note" role="note">
      <Icon name="edit" />
      <div>
        <p>You began to write this and have not sent it.{files.length > 0 && ` Its files are to be attached again: ${files.join(', ')}.`}</p>
        <div>
          <Button size="xs" variant="default" onClick={onAnew}>
            Begin anew
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
        <span className="soft small">{files.length ? `${bytes(total)} in all` : 'or drop them here'}</span>
      </div>
      {files.length > 0 && (
        <ul className="stack-small" aria-label="Attached files" tabIndex={0}>
          {files.map((file, index) => (
            <li key={`${file.name} ${index}`} className="row">
              <Icon name="clip" size={14} />
              <span className="break">{file.name}</span>
              <span className="soft small">{bytes(file.size)}</span>
              <Button variant="subtle" color="gray" size="compact-xs" aria-label={`Remove ${file.name}`} onClick={() => onChange(files.filter((_, at) => at !== index))}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function drop(event: DragEvent, add: (files: File[]) => void): void {
  event.preventDefault()
  if (event.dataTransfer.files.length) add([...event.dataTransfer.files])
}

async function messageOf({ values, form, files }: Letter): Promise<Schema['SendBody']> {
  const named = (addresses: readonly string[]) => addresses.map((email) => ({ email }))
  return {
    from: { email: values.from.trim(), ...(values.from_name && { name: values.from_name }) },
    to: named(values.to),
    subject: values.subject,
    ...(form === 'text' ? { text_body: values.body } : { html_body: values.body }),
    ...(values.cc.length && { cc: named(values.cc) }),
    ...(values.bcc.length && { bcc: named(values.bcc) }),
    ...(values.reply_to && { reply_to: { email: values.reply_to.trim() } }),
    ...(values.tags.length && { tags: values.tags }),
    ...(files.length && { attachments: await Promise.all(files.map(attachment)) }),
  }
}

async function attachment(file: File): Promise<Schema['AttachmentBody']> {
  const isPlain = /^[\w.+-]+\/[\w.+-]+$/.test(file.type) && !/^(multipart|message)\//.test(file.type)
  return { filename: file.name, content_type: isPlain ? file.type : 'application/octet-stream', content: await base64(file) }
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error ?? new Error('the file can not be read'))
    reader.readAsDataURL(file)
  })
}
