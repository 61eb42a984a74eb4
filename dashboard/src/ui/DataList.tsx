import { ActionIcon, Button, Skeleton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Page } from '../api/client'
import { ApiError } from '../api/errors'
import { healing } from '../api/queries'
import { useAddress } from '../search'
import { ErrorNote } from './ErrorNote'
import { Icon } from './Icon'

export interface Column<Row> {
  head: string
  cell: (row: Row) => ReactNode
  /** The API's name of the sort, where the list can be sorted by it. */
  sort?: string
  align?: 'right'
  /** Takes the room that is left, and is cut where it doesn't fit. */
  wide?: boolean
  /** Its head is only heard. */
  quiet?: boolean
}

interface Props<Row> {
  /** What is listed, for those who hear the page. */
  label: string
  /** The resource and the filters: the key of the cache. */
  of: readonly unknown[]
  load: (page: { cursor?: string; sort?: string; order?: 'asc' | 'desc'; limit: number }) => Promise<Page<Row>>
  columns: readonly Column<Row>[]
  rowKey: (row: Row) => string
  /** Shown in place of a list that has nothing, filtered or not. */
  empty: ReactNode
  limit?: number
  /** Ask again by itself, in milliseconds. */
  every?: number
  /** What stands in the address beside a cursor, because the cursor is good for it alone. */
  pinned?: Readonly<Record<string, string>>
  /** Between the head of the card and the rows: what is done to them. */
  above?: (rows: readonly Row[]) => ReactNode
}

/** One page of a list of the API; which one, and its order, stand in the address. */
export function DataList<Row>(props: Props<Row>) {
  const [address, change] = useAddress()
  const limit = props.limit ?? 25
  const { cursor, sort } = address
  const order = address['order'] === 'asc' || address['order'] === 'desc' ? address['order'] : undefined
  const { data, error, isPlaceholderData, refetch } = useQuery({
    queryKey: [...props.of, { cursor, sort, order, limit }],
    queryFn: () => props.load({ limit, ...(cursor && { cursor }), ...(sort && { sort }), ...(order && { order }) }),
    placeholderData: keepPreviousData,
    refetchInterval: healing(cursor ? false : props.every),
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
  if (!data) return <Waiting columns={props.columns.length} label={props.label} />
  if (data.rows.length === 0 && !cursor) return <div className="card">{props.empty}</div>
  return (
    <div className="card list-card" aria-busy={isPlaceholderData}>
      {props.above?.(data.rows)}
      <table className="list" role="table" aria-label={props.label}>
        <thead role="rowgroup">
          <tr role="row">
            {props.columns.map((column) => (
              <Heading key={column.head} column={column} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {data.rows.map((row) => (
            <tr key={props.rowKey(row)} role="row">
              {props.columns.map((column) => (
                <td key={column.head} role="cell" data-label={column.head} className={cellClass(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Pages next={data.next} rows={data.rows.length} pinned={props.pinned ?? {}} />
    </div>
  )
}

function cellClass<Row>(column: Column<Row>): string | undefined {
  return [column.align, column.wide && 'wide'].filter(Boolean).join(' ') || undefined
}

function Heading<Row>({ column }: { column: Column<Row> }) {
  const [address, change] = useAddress()
  if (!column.sort)
    return (
      <th role="columnheader" scope="col" className={cellClass(column)}>
        {column.head && !column.quiet ? column.head : <span className="unseen">{column.head || 'Actions'}</span>}
      </th>
    )
  const sorted = address['sort'] === column.sort
  const order = sorted ? (address['order'] ?? 'asc') : undefined
  return (
    <th role="columnheader" scope="col" className={cellClass(column)} aria-sort={order === 'asc' ? 'ascending' : order === 'desc' ? 'descending' : 'none'}>
      <button
        type="button"
        className="sort"
        onClick={() => change(order === 'desc' ? { sort: undefined, order: undefined } : { sort: column.sort, order: sorted ? 'desc' : 'asc' })}
      >
        {column.head}
        {order && <Icon name={order === 'asc' ? 'up' : 'down'} size={12} />}
      </button>
    </th>
  )
}

function Pages({ next, rows, pinned }: { next: string | null; rows: number; pinned: Readonly<Record<string, string>> }) {
  const [{ cursor }] = useAddress()
  const navigate = useNavigate()
  const trail = useLocation({ select: (location) => location.state.trail ?? [] })
  if (!cursor && !next) return <footer className="list-foot soft">{rows === 1 ? '1 entry' : `${rows} entries`}</footer>
  const go = (to: string | undefined, trailed: readonly string[]) =>
    void navigate({
      to: '.',
      search: (before: Record<string, unknown>) => ({ ...before, ...(to ? pinned : { at: undefined }), cursor: to || undefined }),
      state: { trail: trailed },
    })
  return (
    <footer className="list-foot">
      <span className="soft">
        {rows} {rows === 1 ? 'entry' : 'entries'} on this page
      </span>
      <span className="pages">
        <ActionIcon variant="default" size="lg" aria-label="Previous page" disabled={!cursor} onClick={() => go(trail.at(-1), trail.slice(0, -1))}>
          <Icon name="left" size={16} />
        </ActionIcon>
        <ActionIcon variant="default" size="lg" aria-label="Next page" disabled={!next} onClick={() => next && go(next, [...trail, cursor ?? ''])}>
          <Icon name="right" size={16} />
        </ActionIcon>
      </span>
    </footer>
  )
}

function Waiting({ columns, label }: { columns: number; label: string }) {
  return (
    <div className="card waiting" role="status" aria-label={`Loading: ${label}`}>
      {Array.from({ length: 6 }, (_, row) => (
        <div className="waiting-row" key={row}>
          {Array.from({ length: columns }, (_, column) => (
            <Skeleton key={column} height={14} radius="sm" />
          ))}
        </div>
      ))}
    </div>
  )
}

/** Lines that stand for what is still loading. */
export function Lines({ count = 4 }: { count?: number }) {
  return (
    <div className="stack" role="status" aria-label="Loading">
      {Array.from({ length: count }, (_, line) => (
        <Skeleton key={line} height={16} radius="sm" />
      ))}
    </div>
  )
}
