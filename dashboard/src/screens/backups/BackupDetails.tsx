import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Allowed } from '../../access/Allowed'
import { client, fetchData } from '../../api/client'
import { followOperation } from '../../api/operations'
import { PATHS } from '../../paths'
import { Badge } from '../../ui/Badge'
import { ConfirmDelete } from '../../ui/Confirm'
import { DetailPage } from '../../ui/DetailPage'
import { ErrorBar } from '../../ui/ErrorBar'
import { Time, formatTime } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'
import { formatBytes, pluralize } from '../../units'
import { Verified } from './Backups'
import { Contents } from './Contents'
import { CancelButton } from './OperationProgress'
import { type Backup, backupQuery, KEY } from './queries'
import { describeOperation, toneOf } from './texts'

/** A backup: facts, what it contains, and what can be restored from it. */
export function BackupDetails() {
  const { id } = useParams({ strict: false }) as { id: string }
  return (
    <DetailPage
      kind="Backup"
      list={{ to: PATHS.backups, label: 'Backups' }}
      query={useQuery(backupQuery(id))}
      title={(backup) => `Backup of ${formatTime(new Date(backup.created_at), 'short')}`}
      lead={(backup) => (
        <>
          <Badge tone={toneOf(backup.state)}>{backup.state}</Badge> {backup.operation && describeOperation(backup.operation)}
        </>
      )}
      actions={(backup) => <Actions backup={backup} />}
    >
      {(backup) => (
        <div className="stack">
          <Facts backup={backup} />
          {backup.state === 'succeeded' && <Contents backup={backup} />}
        </div>
      )}
    </DetailPage>
  )
}

function Facts({ backup }: { backup: Backup }) {
  const { counts } = backup
  return (
    <dl className="facts section card">
      <div>
        <dt>Contains</dt>
        <dd>
          {counts
            ? `${pluralize(counts.domains, 'domain')}, ${pluralize(counts.mailboxes, 'mailbox', 'mailboxes')}, ${pluralize(counts.messages, 'message')}`
            : '–'}
          {backup.size_bytes !== null && ` (${formatBytes(backup.size_bytes)})`}
        </dd>
      </div>
      <div>
        <dt>Added to the repository</dt>
        <dd>{backup.added_bytes === null ? '–' : formatBytes(backup.added_bytes)}</dd>
      </div>
      <div>
        <dt>Finished</dt>
        <dd>{backup.finished_at ? <Time at={backup.finished_at} /> : '–'}</dd>
      </div>
      <div>
        <dt>Verified</dt>
        <dd>
          <Verified backup={backup} />
          {backup.verified && <div className="break">{backup.verified.detail}</div>}
        </dd>
      </div>
      {backup.error && (
        <div>
          <dt>Error</dt>
          <dd className="break">{backup.error}</dd>
        </div>
      )}
    </dl>
  )
}

function Actions({ backup }: { backup: Backup }) {
  const params = { params: { path: { id: backup.id } } }
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const verify = useApiMutation({
    request: () => fetchData(client.POST('/backups/{id}/verify', { ...params, body: {} })),
    invalidates: [KEY],
    onSuccess: ({ id }) => followOperation({ ids: [id], title: 'Verification', names: [], backup: backup.id }),
  })
  return (
    <Group gap="xs">
      <ErrorBar error={verify.error} />
      {backup.operation ? (
        <CancelButton backup={backup.id} />
      ) : (
        <>
          {backup.state === 'succeeded' && (
            <Allowed action="backup.write">
              <Button loading={verify.isPending} onClick={() => verify.mutate(undefined)}>
                Verify
              </Button>
            </Allowed>
          )}
          <Allowed action="backup.write">
            <Button variant="default" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          </Allowed>
        </>
      )}
      <ConfirmDelete
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        title="Delete backup"
        request={() => fetchData(client.DELETE('/backups/{id}', params))}
        invalidates={[KEY]}
        message={(answer) => answer.message}
        onDeleted={() => void navigate({ to: PATHS.backups })}
      >
        Deletes the backup of <Time at={backup.created_at} />. What only it contains can’t be restored any more.
      </ConfirmDelete>
    </Group>
  )
}
