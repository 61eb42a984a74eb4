import { Button, Progress } from '@mantine/core'
import { Allowed } from '../../access/Allowed'
import { client, fetchData } from '../../api/client'
import { ErrorBar } from '../../ui/ErrorBar'
import { useApiMutation } from '../../ui/useForm'
import { KEY, type Operation } from './queries'
import { describeResult, shareOf } from './texts'

/** What an operation on backups does now, or what came of it. */
export function OperationProgress({ operation }: { operation: Operation }) {
  const result = describeResult(operation)
  return (
    <>
      <p role="status" className="break strong">
        {result ? result.title : operation.phase ? `Running: ${operation.phase} …` : 'Running …'}
      </p>
      {!result && <Progress value={shareOf(operation.progress)} aria-label="Progress" />}
      {result && result.lines.length > 0 && (
        <ul>
          {result.lines.map((line) => (
            <li key={line} className="break">
              {line}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** Ends the operation on this backup. */
export function CancelButton({ backup, label = 'Cancel' }: { backup: string; label?: string }) {
  const cancel = useApiMutation({
    request: () => fetchData(client.POST('/backups/{id}/cancel', { params: { path: { id: backup } }, body: {} })),
    invalidates: [KEY],
    message: 'It is being cancelled.',
  })
  return (
    <>
      <ErrorBar error={cancel.error} />
      <Allowed action="backup.write">
        <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate(undefined)}>
          {label}
        </Button>
      </Allowed>
    </>
  )
}
