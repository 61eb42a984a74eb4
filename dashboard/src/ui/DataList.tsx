import { ActionIcon, Button, Skeleton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Page } from '../api/client'
import { ApiError } from '../api/errors'
import { refetchUntilAvailable } from '../api/queries'
import { useSearchParams } from '../search'
import { ErrorNote } from './ErrorNote'
import { Icon } from './Icon'

export interface Column<Row> {
  header: string
  cell: (row: Row) => ReactNode
  /** The value of the API's `sort` parameter, if the column is sortable. */
  sort?: string
  align?: 'right'
  /** Takes the remaining width and is truncated. */
  wide?: boolean
  /** The header is visible to screen readers only. */
  hidesHeader?: boolean
}

interface Props<Row> {
  /** The accessible name of the table. */
  label: string
  /** The resource and the filters. */
  queryKey: readonly unknown[]
  load: (page: { cursor?: string; sort?: string; order?: 'asc' | 'desc'; limit: number }) => Promise<Page<Row>>
  columns: readonly Column<Row>[]
  rowKey: (row: Row) => string
  /** Shown instead of an empty list. */
  empty: ReactNode
  limit?: number
  /** Refetch interval in milliseconds. */
  refetchEvery?: number
  /** Query parameters that belong to the cursor. */
  cursorParams?: Readonly<Record<string, string>>
  /** An action bar above the rows. */
  toolbar?: (rows: readonly Row[]) => ReactNode
}

/** One page of an API list. The cursor and the sort order are query parameters. */
export function DataList<Row>(props: Props<Row>) {
  const [address, change] = useSearchParams()
  const limit = props.limit ?? 25
  const { cursor, sort } = address
  const order = address['order'] === 'asc' || address['order'] === 'desc' ? address['order'] : undefined
  const { data, error, isPlaceholderData, refetch } = useQuery({
    queryKey: [...props.queryKey, { cursor, sort, order, limit }],
    queryFn: () => props.load({ limit, ...(cursor && { cursor }), ...(sort && { sort }), ...(order && { order }) }),
    placeholderData: keepPreviousData,
    refetchInterval: refetchUntilAvailable(cursor ? false : props.refetchEvery),
  })
  if (error)
    return (
      <div className="stack">
        <ErrorNote error={error} />
        <div>
          {error instanceof ApiError && error.code === 'INVALID_PAGINATION' ? (
            <Button variant="default" onClick={() => change({ sort: undefined, order: undefined })}>
              First page
            </Button>
          ) : (
            <Button variant="default" onClick={() => void refetch()}>
              Try again
            </Button>
          )}
        </div>
      </div>
    )
  if (!data) return <LoadingRows columns={props.columns.length} label={props.label} />
  if (data.rows.length === 0 && !cursor) return <div className="card">{props.empty}</div>
  return (
    <div className="card list-card" aria-busy={isPlaceholderData}>
      {props.toolbar?.(data.rows)}
      <table className="list" role="table" aria-label={props.label}>
        <thead role="rowgroup">
          <tr role="row">
            {props.columns.map((column) => (
              <ColumnHeader key={column.header} column={column} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {data.rows.map((row) => (
            <tr key={props.rowKey(row)} role="row">
              {props.columns.map((column) => (
                <td key={column.header} role="cell" data-label={column.header} className={cellClass(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Pagination next={data.next} rows={data.rows.length} pinned={props.cursorParams ?? {}} />
    </div>
  )
}

function cellClass<Row>(column: Column<Row>): string | undefined {
  return [column.align, column.wide && 'wide'].filter(Boolean).join(' ') || undefined
}

function ColumnHeader<Row>({ column }: { column: Column<Row> }) {
  const [address, change] = useSearchParams()
  if (!column.sort)
    return (
      <th role="columnheader" scope="col" className={cellClass(column)}>
        {column.header && !column.hidesHeader ? column.header : <span className="visually-hidden">{column.header || 'Actions'}</span>}
      </th>
    )
  const sorted = address['sort'] === column.sort
  const order = sorted ? (address['order'] ?? 'asc') : undefined
  return (
    <th
      role="columnheader"
      scope="col"
      className={cellClass(column)}
      aria-sort={order === 'asc' ? 'ascending' : order === 'desc' ? 'descending' : 'none'}
    >
      <button
        type="button"
        className="sort"
        onClick={() =>
          change(order === 'desc' ? { sort: undefined, order: undefined } : { sort: column.sort, order: sorted ? 'desc' : 'asc' })
        }
      >
        {column.header}
        {order && <Icon name={order === 'asc' ? 'up' : 'down'} size={12} />}
      </button>
    </th>
  )
}

function Pagination({ next, rows, pinned }: { next: string | null; rows: number; pinned: Readonly<Record<string, string>> }) {
  const [{ cursor }] = useSearchParams()
  const navigate = useNavigate()
  const trail = useLocation({ select: (location) => location.state.trail ?? [] })
  if (!cursor && !next) return <footer className="list-foot muted">{rows === 1 ? '1 entry' : `${rows} entries`}</footer>
  const go = (to: string | undefined, trailed: readonly string[]) =>
    void navigate({
      to: '.',
      search: (before: Record<string, unknown>) => ({ ...before, ...(to ? pinned : { at: undefined }), cursor: to || undefined }),
      state: { trail: trailed },
    })
  return (
    <footer className="list-foot">
      <span className="muted">
        {rows} {rows === 1 ? 'entry' : 'entries'} on this page
      </span>
      <span className="pages">
        <ActionIcon
          variant="default"
          size="lg"
          aria-label="Previous page"
          disabled={!cursor}
          onClick={() => go(trail.at(-1), trail.slice(0, -1))}
        >
          <Icon name="left" size={16} />
        </ActionIcon>
        <ActionIcon
          variant="default"
          size="lg"
          aria-label="Next page"
          disabled={!next}
          onClick={() => next && go(next, [...trail, cursor ?? ''])}
        >
          <Icon name="right" size={16} />
        </ActionIcon>
      </span>
    </footer>
  )
}

function LoadingRows({ columns, label }: { columns: number; label: string }) {
  return (
    <div className="card loading" role="status" aria-label={`Loading: ${label}`}>
      {Array.from({ length: 6 }, (_row, row) => (
        <div className="loading-row" key={row}>
          {Array.from({ length: columns }, (_column, column) => (
            <Skeleton key={column} height={14} radius="sm" />
          ))}
        </div>
      ))}
    </div>
  )
}

/** Placeholder lines while content is loading. */
export function LoadingLines({ count = 4 }: { count?: number }) {
  return (
    <div className="stack" role="status" aria-label="Loading">
      {Array.from({ length: count }, (_, line) => (
        <Skeleton key={line} height={16} radius="sm" />
      ))}
    </div>
  )
}
