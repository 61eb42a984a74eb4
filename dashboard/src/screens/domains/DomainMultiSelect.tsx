import { MultiSelect, type MultiSelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { domainQuery, domainsQuery } from './DomainSelect'

type Props = Omit<MultiSelectProps, 'data' | 'searchValue' | 'onSearchChange'>

/** Selects several domains. */
export function DomainMultiSelect(props: Props) {
  const [text, setText] = useState('')
  const [q] = useDebouncedValue(text, 200)
  const matches = useQuery(domainsQuery(q)).data?.rows ?? []
  const others = (props.value ?? []).filter((id) => !matches.some((row) => row.id === id))
  const selected = useQueries({ queries: others.map((id) => domainQuery(id)) }).flatMap((query) => (query.data ? [query.data] : []))
  return (
    <MultiSelect
      searchable
      clearable
      nothingFoundMessage="No matching domains"
      clearButtonProps={{ 'aria-label': 'Clear domains' }}
      {...props}
      data={[...selected, ...matches].map((row) => ({ value: row.id, label: row.unicode_name }))}
      searchValue={text}
      onSearchChange={setText}
    />
  )
}
