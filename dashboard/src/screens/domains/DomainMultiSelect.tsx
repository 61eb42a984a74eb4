import { MultiSelect, type MultiSelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { domainQuery, domainsQuery } from './DomainSelect'

type Props = Omit<MultiSelectProps, 'data' | 'searchValue' | 'onSearchChange'>

/** Selects several domains. */
export function DomainMultiSelect(props: Props) {
  const [typed, setTyped] = useState('')
  const [q] = useDebouncedValue(typed, 200)
  const found = useQuery(domainsQuery(q)).data?.rows ?? []
  const missing = (props.value ?? []).filter((id) => !found.some((row) => row.id === id))
  const chosen = useQueries({ queries: missing.map((id) => domainQuery(id)) }).flatMap((query) => (query.data ? [query.data] : []))
  return (
    <MultiSelect
      searchable
      clearable
      nothingFoundMessage="No matching domains"
      clearButtonProps={{ 'aria-label': 'Clear domains' }}
      {...props}
      data={[...chosen, ...found].map((row) => ({ value: row.id, label: row.unicode_name }))}
      searchValue={typed}
      onSearchChange={setTyped}
    />
  )
}
