import { Button, Skeleton } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Page } from '../api/client'
import { ApiError } from '../api/errors'
import { refetchUntilAvailable } from '../api/queries'
import { useSearchParams } from '../search'
import { formatNumber } from '../locale'
import { ErrorBar } from './ErrorBar'
import { ErrorNote } from './ErrorNote'
import { Icon } from './Icon'

export interface Column<Row> {
  header: string
  cell: (row: Row, rows: readonly Row[]) => ReactNode
  /** The value of the API's `sort` parameter, if the column is sortable. */
  sort?: string
  align?: 'right'
  /** Takes the remaining width and is truncated. */
  wide?: boolean
  /** Long texts continue on the next line. */
  wraps?: boolean
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
  /** Refetch interval in milliseconds while only the first page is loaded. */
  refetchEvery?: number
  /** An action bar above the rows. */
  toolbar?: (rows: readonly Row[]) => ReactNode
}

const PAGE_SIZE = 25

/** An API list with "Load more". The sort order is in the URL. */
export function DataList<Row>(props: Props<Row>) {
  const [params, change] = useSearchParams()
  const { sort } = params
  const order = params['order'] === 'asc' || params['order'] === 'desc' ? params['order'] : undefined
  const { data, error, isPlaceholderData, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isFetchNextPageError } =
    useInfiniteQuery({
      queryKey: [...props.queryKey, { sort, order }],
      queryFn: ({ pageParam: cursor }) =>
        props.load({ limit: PAGE_SIZE, ...(cursor && { cursor }), ...(sort && { sort }), ...(order && { order }) }),
      initialPageParam: '',
      getNextPageParam: (page) => page.next,
      placeholderData: keepPreviousData,
      refetchInterval: (query) => refetchUntilAvailable(query.state.data?.pages.length === 1 && props.refetchEvery)(query),
    })
  if (error && !isFetchNextPageError)
    return (
      <div className="stack">
        <ErrorNote error={error} />
        <div>
          {error instanceof ApiError && error.code === 'INVALID_PAGINATION' ? (
            <Button variant="default" onClick={() => change({ sort: undefined, order: undefined })}>
              Reset sorting
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
  const rows = data.pages.flatMap((page) => page.rows)
  if (rows.length === 0) return <div className="card">{props.empty}</div>
  return (
    <div className="card list-card" aria-busy={isPlaceholderData}>
      {props.toolbar?.(rows)}
      <table className="list" role="table" aria-label={props.label}>
        <thead role="rowgroup">
          <tr role="row">
            {props.columns.map((column) => (
              <ColumnHeader key={column.header} column={column} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={props.rowKey(row)} role="row">
              {props.columns.map((column) => (
                <td key={column.header} role="cell" data-label={column.header} className={cellClass(column)}>
                  {column.cell(row, rows)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <footer className="list-foot">
        <span className="muted" role="status">
          {formatNumber(rows.length)} {rows.length === 1 ? 'entry' : 'entries'}
          {hasNextPage && ' loaded'}
        </span>
        {hasNextPage && (
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Load more
          </Button>
        )}
      </footer>
      {isFetchNextPageError && <ErrorBar error={error} />}
    </div>
  )
}

function cellClass<Row>(column: Column<Row>): string | undefined {
  return [column.align, column.wide && 'wide', column.wraps && 'wrap'].filter(Boolean).join(' ') || undefined
}

function ColumnHeader<Row>({ column }: { column: Column<Row> }) {
  const [params, change] = useSearchParams()
  if (!column.sort)
    return (
      <th role="columnheader" scope="col" className={cellClass(column)}>
        {column.header && !column.hidesHeader ? column.header : <span className="visually-hidden">{column.header || 'Actions'}</span>}
      </th>
    )
  const sorted = params['sort'] === column.sort
  const order = sorted ? (params['order'] ?? 'asc') : undefined
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
