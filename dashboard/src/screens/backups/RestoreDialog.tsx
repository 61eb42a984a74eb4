import { Button, Modal, Radio } from '@mantine/core'
import { useState } from 'react'
import { client, fetchData } from '../../api/client'
import { ErrorNote } from '../../ui/ErrorNote'
import { Form } from '../../ui/Form'
import { RecentSignIn, useRecentSignIn } from '../../ui/RecentSignIn'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'
import { formatBytes, pluralize } from '../../units'
import { type Backup, KEY, type Operation, useOperation } from './queries'

export interface RestoreSource {
  scope: 'domain' | 'mailbox'
  id: string
  name: string
}

type Into = 'folder' | 'in_place'

interface Counts {
  mailboxes?: { existing?: number; returned?: number; skipped?: number }
  messages?: { restored?: number; present?: number; newer?: number }
  bytes?: number
}

/** Restores a domain or a mailbox: where to, what it would do (a dry run), confirmation, and the result. */
export function RestoreDialog({ backup, source, onClose }: { backup: Backup; source: RestoreSource; onClose: () => void }) {
  const [into, setInto] = useState<Into>('folder')
  const start = useApiMutation({
    request: ({ dryRun }: { dryRun: boolean }) =>
      fetchData(
        client.POST('/backups/{id}/restore', {
          params: { path: { id: backup.id } },
          body: {
            scope: source.scope,
            ...(source.scope === 'domain' ? { domain_id: source.id } : { mailbox_id: source.id }),
            into,
            ...(dryRun ? { dry_run: true } : { confirm: true, ...signIn.body }),
          },
        }),
      ),
    invalidates: [KEY],
  })
  const signIn = useRecentSignIn(start.error)
  const [counting, setCounting] = useState<string>()
  const [restoring, setRestoring] = useState<string>()
  const counted = useOperation(counting)
  const restored = useOperation(restoring)
  const isCounted = counted.data?.state === 'succeeded'
  const isRunning = start.isPending || counted.data?.state === 'running' || restored.data?.state === 'running'

  function submit() {
    if (!isCounted) start.mutate({ dryRun: true }, { onSuccess: (operation) => setCounting(operation.id) })
    else if (signIn.isReady) start.mutate({ dryRun: false }, { onSuccess: (operation) => setRestoring(operation.id) })
  }
  function choose(value: string) {
    setInto(value as Into)
    setCounting(undefined)
  }
  return (
    <Modal opened onClose={onClose} title={`Restore ${source.name}`} size="lg">
      <Form
        onSubmit={submit}
        error={signIn.isNeeded ? signIn.otherError : start.error}
        actions={
          <>
            <Button variant="default" onClick={onClose}>
              {restoring ? 'Close' : 'Cancel'}
            </Button>
            {!restoring && (
              <Button type="submit" loading={isRunning} {...(isCounted && { color: 'red' })}>
                {isCounted ? 'Restore' : 'Count what it would do'}
              </Button>
            )}
          </>
        }
      >
        <p>
          From the backup of <Time at={backup.created_at} />. Messages that arrived later stay, and so do today’s passwords and suspensions.
        </p>
        <Radio.Group label="Where to" value={into} onChange={choose}>
          <div className="stack">
            <Radio value="folder" label="A new folder “Restored …” in each mailbox" disabled={Boolean(restoring)} />
            <Radio value="in_place" label="The folders they were in: only missing messages are added" disabled={Boolean(restoring)} />
          </div>
        </Radio.Group>
        <div role="status" className="stack">
          <Outcome operation={counted.data} verb="Would restore" />
          <Outcome operation={restored.data} verb="Restored" />
          {(counted.error ?? restored.error) && <ErrorNote error={counted.error ?? restored.error} />}
        </div>
        {signIn.isNeeded && !restoring && <RecentSignIn {...signIn.promptProps} consequence="Sign in again, then restore again." />}
      </Form>
    </Modal>
  )
}

function Outcome({ operation, verb }: { operation: Operation | undefined; verb: string }) {
  if (!operation) return null
  if (operation.state === 'running') return <p>{operation.phase ? `Running: ${operation.phase} …` : 'Running …'}</p>
  if (operation.state === 'cancelled') return <p>It was cancelled.</p>
  if (operation.state !== 'succeeded') return <p className="break">It has failed: {operation.error}</p>
  const { messages = {}, mailboxes = {}, bytes = 0 } = (operation.result ?? {}) as Counts
  return (
    <>
      <p className="strong">
        {verb} {pluralize(messages.restored ?? 0, 'message')} ({formatBytes(bytes)}).
      </p>
      <ul>
        <li>{pluralize(messages.present ?? 0, 'message')} there already</li>
        <li>{pluralize(messages.newer ?? 0, 'newer message')} not touched</li>
        {(mailboxes.returned ?? 0) > 0 && <li>{pluralize(mailboxes.returned ?? 0, 'mailbox', 'mailboxes')} back without a password</li>}
        {(mailboxes.skipped ?? 0) > 0 && <li>{pluralize(mailboxes.skipped ?? 0, 'mailbox', 'mailboxes')} skipped</li>}
      </ul>
    </>
  )
}
