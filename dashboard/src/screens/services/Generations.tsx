import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client, fetchData, type Schema } from '../../api/client'
import { useSearchParams } from '../../search'
import { Confirm } from '../../ui/Confirm'
import { LoadingLines } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ErrorNote } from '../../ui/ErrorNote'
import { TableHead } from '../../ui/TableHead'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'
import { overviewQuery } from './queries'

type Generation = Schema['GenerationResponse']

/** The configurations of the daemons that are kept, and the way back to them. */
export function Generations() {
  const { data, error } = useQuery(overviewQuery())
  const [chosen, choose] = useState<Generation>()
  if (!data) return error ? <ErrorNote error={error} /> : <LoadingLines count={4} />
  if (data.generations.length === 0) {
    return (
      <div className="card">
        <EmptyState icon="clock" title="No generations">
          The embedded profile has no daemons, so it keeps no configurations of them.
        </EmptyState>
      </div>
    )
  }
  return (
    <div className="card list-card">
      <table className="list" role="table" aria-label="Generations">
        <TableHead headers={['Generation', 'Created', 'Settings']} unseen="Action" />
        <tbody role="rowgroup">
          {data.generations.map((each) => (
            <tr key={each.n} role="row">
              <td role="cell" data-label="Generation">
                {each.n}
              </td>
              <td role="cell" data-label="Created">
                <Time at={each.created_at} form="exact" />
              </td>
              <td role="cell" data-label="Settings">
                {each.revision === 0 ? 'none stored' : `revision ${each.revision}`}
              </td>
              <td role="cell">
                {each.n === data.generation?.n ? (
                  'in use'
                ) : (
                  <Button size="xs" variant="default" onClick={() => choose(each)}>
                    Roll back to {each.n}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {chosen && <ConfirmRollback generation={chosen} onClose={() => choose(undefined)} />}
    </div>
  )
}

function ConfirmRollback({ generation, onClose }: { generation: Generation; onClose: () => void }) {
  const [, change] = useSearchParams()
  const rollBack = useApiMutation({
    request: () => fetchData(client.POST('/orchestrator/rollback', { body: { generation: generation.n, watch_seconds: 30 } })),
    invalidates: ['orchestrator'],
    onSuccess: (answer) => {
      onClose()
      change({ operation: answer.operation_id })
    },
  })
  return (
    <Confirm
      opened
      onClose={onClose}
      title={`Roll back to generation ${generation.n}`}
      action="Roll back"
      isPending={rollBack.isPending}
      error={rollBack.error}
      onConfirm={() => rollBack.mutate(undefined)}
    >
      <p>
        The settings that need an apply get the values that they had then, as a new revision, and the daemons use them. Other settings stay.
        If a service stops working, the present configuration is restored.
      </p>
    </Confirm>
  )
}
