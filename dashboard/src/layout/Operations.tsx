import { Button, Modal, Progress } from '@mantine/core'
import { useQueries, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { refetchUntilAvailable } from '../api/queries'
import { CancelButton, OperationProgress } from '../screens/backups/OperationProgress'
import { useOperation } from '../screens/backups/queries'
import { describeProgress, describeResult } from '../screens/backups/texts'
import { dismissOperation, fetchOperation, type FollowedOperation, listErrors, useFollowedOperations } from '../api/operations'
import { formatNumber } from '../locale'
import { pluralize } from '../units'
import { Icon } from '../ui/Icon'
import { notify } from '../ui/notify'

const ErrorTable = lazy(() => import('../screens/bulk/ErrorTable').then((module) => ({ default: module.ErrorTable })))
const POLL_MS = 1_000

/** The progress of operations that were started here, in the header of every screen. */
export function Operations() {
  const operations = useFollowedOperations()
  return operations.map((each) =>
    each.backup ? (
      <BackupOperation key={each.ids.join()} operation={each} backup={each.backup} />
    ) : (
      <BulkOperation key={each.ids.join()} operation={each} />
    ),
  )
}

/** A success is only notified; an error, and a restore that has left out mailboxes, stays until it was read. */
function BackupOperation({ operation, backup }: { operation: FollowedOperation; backup: string }) {
  const [isOpen, setOpen] = useState(false)
  const { data, error } = useOperation(operation.ids[0])
  const isLost = (error as { status?: number } | null)?.status === 404
  const result = data && describeResult(data)
  const isDone = result !== undefined
  useEffect(() => {
    if (isLost) dismissOperation(operation)
    if (!result || result.isProblem) return
    notify(result.title)
    dismissOperation(operation)
  }, [isDone, isLost])
  const text = result ? result.word : data ? describeProgress({ ...data, ...data.progress }) || 'Running' : 'Waiting'
  return (
    <>
      <Button
        className="top-operation"
        variant="default"
        leftSection={<Icon name={isDone ? 'warn' : 'refresh'} size={15} />}
        aria-label={`${operation.title}: ${text}`}
        onClick={() => setOpen(true)}
      >
        {text}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={operation.title} size="lg">
        <div className="stack">
          {data && <OperationProgress operation={data} />}
          {!isDone && <p className="muted">The server continues if you leave this page.</p>}
          <div className="right">
            {isDone ? <Button onClick={() => dismissOperation(operation)}>Close</Button> : <CancelButton backup={backup} />}
          </div>
        </div>
      </Modal>
    </>
  )
}

function BulkOperation({ operation }: { operation: FollowedOperation }) {
  const [isOpen, setOpen] = useState(false)
  const queries = useQueryClient()
  const answers = useQueries({
    queries: operation.ids.map((id) => ({
      queryKey: ['operations', id],
      queryFn: () => fetchOperation(id),
      refetchInterval: (query: { state: { data?: { state: string } | undefined; error: Error | null } }) =>
        query.state.data && query.state.data.state !== 'running' ? false : refetchUntilAvailable(POLL_MS)(query),
    })),
  })
  const known = answers.flatMap(({ data }) => (data ? [data] : []))
  const isDone = known.length === operation.ids.length && known.every(({ state }) => state !== 'running')
  const isLost = answers.some(({ error, data }) => error && !data && (error as { status?: number }).status === 404)
  const total = known.reduce((sum, { progress }) => sum + progress.total, 0)
  const done = known.reduce((sum, { progress }) => sum + progress.done, 0)
  const errors = isDone ? listErrors(known) : []
  useEffect(() => {
    if (isLost) dismissOperation(operation)
  }, [isLost])
  useEffect(() => {
    if (!isDone) return
    for (const name of ['mailboxes', 'aliases', 'domains', 'routing']) void queries.invalidateQueries({ queryKey: [name] })
    if (errors.length > 0) return
    notify(`${operation.title}: done.`)
    dismissOperation(operation)
  }, [isDone])
  const percent = total ? (done / total) * 100 : 0
  const text = isDone
    ? `${formatNumber(errors.length)} of ${formatNumber(total)} failed`
    : `${formatNumber(done)} of ${formatNumber(total)}`
  return (
    <>
      <Button
        className="top-operation"
        variant="default"
        leftSection={<Icon name={isDone ? 'warn' : 'refresh'} size={15} />}
        aria-label={`${operation.title}: ${text}`}
        onClick={() => setOpen(true)}
      >
        {text}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={operation.title} size="lg">
        <div className="stack">
          <p role="status">
            {isDone ? `Done: ${pluralize(total - errors.length, 'item')} succeeded, ${errors.length} failed.` : `${text} done.`}
          </p>
          <Progress value={percent} color={errors.length > 0 ? 'red' : 'blue'} aria-label="Progress" />
          {!isDone && <p className="muted">The server continues if you leave this page.</p>}
          {errors.length > 0 && (
            <Suspense>
              <ErrorTable errors={errors} nameOf={(index) => operation.names[index] ?? ''} numberOf={(index) => index + 1} />
            </Suspense>
          )}
          {isDone && (
            <div className="right">
              <Button onClick={() => dismissOperation(operation)}>Close</Button>
            </div>
          )}
        </div>
      </Modal>
    </>
  )
}
