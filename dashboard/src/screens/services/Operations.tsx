import { Link } from '@tanstack/react-router'
import { client, fetchPage } from '../../api/client'
import { PATHS } from '../../paths'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { Time } from '../../ui/Time'
import { describeOperation, formatDuration, OperationBadge } from './OperationModal'
import type { Operation } from './queries'

const COLUMNS: readonly Column<Operation>[] = [
  {
    header: 'Operation',
    cell: (row) => (
      <Link className="row-link" to={PATHS.services} search={(before) => ({ ...before, operation: row.id })} replace resetScroll={false}>
        {describeOperation(row)}
      </Link>
    ),
  },
  { header: 'State', cell: (row) => <OperationBadge operation={row} /> },
  {
    header: 'Error',
    wide: true,
    cell: (row) => (row.error ? <span title={row.error}>{row.error}</span> : <span className="muted">–</span>),
  },
  {
    header: 'By',
    cell: (row) => (
      <span className="party" title={row.author}>
        {row.author}
      </span>
    ),
  },
  { header: 'Started', cell: (row) => <Time at={row.created_at} form="ago" /> },
  { header: 'Duration', cell: (row) => formatDuration(row) },
]

/** The history of operations; each opens with its steps. */
export function Operations() {
  return (
    <DataList
      label="Operations"
      queryKey={['orchestrator', 'operations']}
      load={({ cursor, limit }) =>
        fetchPage(client.GET('/orchestrator/operations', { params: { query: { limit, ...(cursor && { cursor }) } } }))
      }
      columns={COLUMNS}
      rowKey={(row) => row.id}
      refetchEvery={10_000}
      empty={
        <EmptyState icon="clock" title="No operations yet">
          Each apply, and each start, stop, restart and reload of a service, is listed here with its steps.
        </EmptyState>
      }
    />
  )
}
