import type { ReactNode } from 'react'
import type { Page } from '../../api/client'
import { type Column, DataList } from '../../ui/DataList'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { NoMatches } from '../../ui/NoMatches'
import { DomainFilter } from '../domains/DomainFilter'
import { useSearchParams } from '../../search'
import { AbuseTabs } from './AbuseTabs'

interface Query {
  limit: number
  cursor?: string
  sort?: 'created_at'
  order?: 'asc' | 'desc'
  domain_id?: string
}

interface Props<Row> {
  /** The objects, in the plural: the key of the query. */
  what: string
  label: string
  states: readonly string[]
  load: (query: Query, state: string | undefined) => Promise<Page<Row>>
  columns: readonly Column<Row>[]
  /** Shown if there are none, without filters. */
  empty: ReactNode
}

const FILTERS = ['domain', 'state']

/** A list of the entry Abuse with its tabs, and filters by domain and state. */
export function AbuseList<Row extends { id: string }>({ what, label, states, load, columns, empty }: Props<Row>) {
  const [{ domain, state }] = useSearchParams()
  return (
    <>
      <AbuseTabs />
      <Filters names={FILTERS}>
        <DomainFilter />
        <ChoiceFilter name="state" label="State" data={states.map((value) => ({ value, label: value }))} />
      </Filters>
      <DataList
        label={label}
        queryKey={[what, 'list', domain, state]}
        load={({ sort, ...page }) =>
          load({ ...page, ...(sort && { sort: sort as 'created_at' }), ...(domain && { domain_id: domain }) }, state)
        }
        columns={columns}
        rowKey={(row) => row.id}
        empty={domain || state ? <NoMatches what={what} filters={FILTERS} /> : empty}
      />
    </>
  )
}
