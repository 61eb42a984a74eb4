import { Button, Modal, Radio } from '@mantine/core'
import { useState } from 'react'
import { client, fetchData } from '../../api/client'
import { dismissOperation, type FollowedOperation, followOperation } from '../../api/operations'
import { ErrorNote } from '../../ui/ErrorNote'
import { Form } from '../../ui/Form'
import { RecentSignIn, useRecentSignIn } from '../../ui/RecentSignIn'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'
import { CancelButton, OperationProgress } from './OperationProgress'
import { type Backup, KEY, useOperation } from './queries'

export interface RestoreSource {
  scope: 'domain' | 'mailbox'
  id: string
  name: string
}

type Into = 'folder' | 'in_place'

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
  // Followed in the header too, where it stays when this dialog is closed.
  const [restoring, setRestoring] = useState<FollowedOperation>()
  const counted = useOperation(counting)
  const restored = useOperation(restoring?.ids[0])
  const isCounted = counted.data?.state === 'succeeded'
  const isCounting = Boolean(counting) && (!counted.data || counted.data.state === 'running')
  const isRestoring = Boolean(restoring) && (!restored.data || restored.data.state === 'running')
  const shown = restoring ? restored : counted

  function submit() {
    if (!isCounted) start.mutate({ dryRun: true }, { onSuccess: (operation) => setCounting(operation.id) })
    else if (signIn.isReady) start.mutate({ dryRun: false }, { onSuccess: ({ id }) => follow(id) })
  }
  function follow(id: string) {
    const operation = { ids: [id], title: 'Restore', names: [], backup: backup.id }
    followOperation(operation)
    setRestoring(operation)
  }
  function close() {
    if (restoring && !isRestoring) dismissOperation(restoring)
    onClose()
  }
  function choose(value: string) {
    setInto(value as Into)
    setCounting(undefined)
  }
  return (
    <Modal opened onClose={close} title={`Restore ${source.name}`} size="lg">
      <Form
        onSubmit={submit}
        error={signIn.isNeeded ? signIn.otherError : start.error}
        actions={
          <>
            <Button variant="default" onClick={close}>
              Close
            </Button>
            {(isCounting || isRestoring) && <CancelButton backup={backup.id} label={isCounting ? 'Stop counting' : 'Stop restoring'} />}
            {!restoring && (
              <Button type="submit" loading={start.isPending || isCounting} {...(isCounted && { color: 'red' })}>
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
            <Radio value="folder" label="A new folder “Restored …” in each mailbox" disabled={isCounting || Boolean(restoring)} />
            <Radio
              value="in_place"
              label="The folders they were in: only missing messages are added"
              disabled={isCounting || Boolean(restoring)}
            />
          </div>
        </Radio.Group>
        <div className="stack restore-progress">
          {shown.data && <OperationProgress operation={shown.data} />}
          {shown.error && <ErrorNote error={shown.error} />}
        </div>
        {signIn.isNeeded && !restoring && <RecentSignIn {...signIn.promptProps} consequence="Sign in again, then restore again." />}
      </Form>
    </Modal>
  )
}
