import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Allowed } from '../../../access/Allowed'
import type { MailboxRequests } from '../../../api/mailboxRequests'
import { ConflictDialog, useVersion } from '../../../ui/ConflictDialog'
import { LoadingLines } from '../../../ui/DataList'
import { ErrorNote } from '../../../ui/ErrorNote'
import { Form } from '../../../ui/Form'
import { useApiMutation, useForm } from '../../../ui/useForm'
import { Section } from '../../../ui/Page'
import { CodeEditor } from './CodeEditor'
import { TemplateDialog } from './TemplateDialog'
import { addTemplate } from './templates'
import { TestPanel } from './TestPanel'
import { errorsOf, type ScriptMessage } from './words'

interface Props {
  /** The address of the mailbox. */
  address: string
  requests: MailboxRequests
  name: string
  /** Whether the script is not stored yet. */
  isNew: boolean
  /** Whether it filters mail. */
  isActive: boolean
  onClose: () => void
}

/** Loads a script and edits it. */
export function ScriptEditor(props: Props) {
  const [isNew] = useState(props.isNew)
  const query = useQuery({
    queryKey: ['sieve', props.requests.id, props.name],
    queryFn: () => props.requests.sieve.load(props.name),
    enabled: !isNew,
    staleTime: Infinity,
    gcTime: 0,
  })
  if (query.error) return <ErrorNote error={query.error} />
  if (!isNew && !query.data) return <LoadingLines />
  return <Editor {...props} text={query.data?.script ?? ''} />
}

interface Saved {
  script: string
  thenActivate?: boolean
}

interface Checked {
  script: string
  errors: readonly ScriptMessage[]
  warnings: readonly ScriptMessage[]
}

function Editor({ address, requests, name, isNew, isActive, text, onClose }: Props & { text: string }) {
  const version = useVersion(isNew ? undefined : requests.sieve.path(name))
  const [checked, setChecked] = useState<Checked | null>(null)
  const [isTemplateOpen, setTemplateOpen] = useState(false)
  const check = useApiMutation({
    request: (script: string) => requests.sieve.validate(script),
    invalidates: [],
    onSuccess: (answer, script) => setChecked({ ...answer, script }),
  })
  const activate = useApiMutation({
    request: () => requests.sieve.activate(name),
    invalidates: ['sieve'],
    message: `${name} filters new mail from now on.`,
  })
  const save = useApiMutation({
    request: ({ script }: Saved) => requests.sieve.save(name, script, version.header),
    invalidates: ['sieve'],
    message: (answer, { thenActivate }) =>
      answer.active ? `Saved ${name}. It filters new mail.` : `Saved ${name}.${thenActivate ? '' : ' It is not active yet.'}`,
    onSuccess: (answer, { thenActivate }) => {
      if (thenActivate) activate.mutate(undefined)
      form.markSaved()
      version.refresh()
      setChecked({ script: answer.script, errors: [], warnings: answer.warnings })
    },
  })
  const form = useForm({ script: text }, save.error)
  const { script } = form.values
  const refused = errorsOf(save.error)
  const found = refused.length > 0 && save.variables?.script === script ? { script, errors: refused, warnings: [] } : checked
  // They are about the text that was checked.
  const current = found?.script === script ? found : null
  return (
    <>
      <Section title={name} lead={isNew ? 'Not saved yet' : undefined}>
        <Form
          onSubmit={() => save.mutate(form.values)}
          error={refused.length > 0 ? null : (save.error ?? activate.error ?? check.error)}
          isDirty={form.isDirty}
          actions={
            <>
              <Button variant="default" onClick={onClose}>
                Close
              </Button>
              <Button variant="default" loading={check.isPending} onClick={() => check.mutate(script)}>
                Check
              </Button>
              <Allowed action="sieve.write">
                <Button type="submit" variant={isActive ? 'filled' : 'default'} loading={save.isPending}>
                  Save
                </Button>
              </Allowed>
              {!isActive && (
                <Allowed action="sieve.write">
                  <Button loading={save.isPending || activate.isPending} onClick={() => save.mutate({ script, thenActivate: true })}>
                    Save and activate
                  </Button>
                </Allowed>
              )}
            </>
          }
        >
          <div>
            <Button size="xs" variant="default" onClick={() => setTemplateOpen(true)}>
              Add a filter
            </Button>
          </div>
          <CodeEditor
            label="Script"
            value={script}
            onChange={(value) => form.set('script', value)}
            errors={current?.errors ?? []}
            warnings={current?.warnings ?? []}
          />
          {current && current.errors.length === 0 && (
            <p role="status" className="muted">
              No errors found.
            </p>
          )}
        </Form>
        <ConflictDialog
          error={save.error}
          form={form}
          version={version}
          labels={{ script: 'Script' }}
          show={{ script: (value) => <pre className="script-value">{String(value)}</pre> }}
          load={async () => ({ script: (await requests.sieve.load(name)).script })}
          onClose={save.reset}
          onSave={save.mutate}
        />
      </Section>
      <TestPanel address={address} requests={requests} script={script} />
      <TemplateDialog
        opened={isTemplateOpen}
        onClose={() => setTemplateOpen(false)}
        onInsert={(kind, values) => {
          form.set('script', addTemplate(script, kind, values))
          setTemplateOpen(false)
        }}
      />
    </>
  )
}
