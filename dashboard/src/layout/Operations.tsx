import { Button, Modal, Progress } from '@mantine/core'
import { useQueries, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { refetchUntilAvailable } from '../api/queries'
import { dismissOperation, fetchOperation, type FollowedOperation, listErrors, useFollowedOperations } from '../api/operations'
import { formatNumber } from '../locale'
import { pluralize } from '../units'
import { Icon } from '../ui/Icon'
import { notify } from '../ui/notify'

const ErrorTable = lazy(() => import('../screens/bulk/ErrorTable').then((module) => ({ default: module.ErrorTable })))
const POLL_MS = 1_000

/** The progress of bulk operations, in the header of every screen. */
export function Operations() {
  const operations = useFollowedOperations()
  return operations.map((each) => <Operation key={each.ids.join()} operation={each} />)
}

function Operation({ operation }: { operation: FollowedOperation }) {
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
