import { Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'

/** The first domains by name whose names contain `q`. */
export function domainsQuery(q = '') {
  return queryOptions({
    queryKey: ['domains', 'choice', q],
    queryFn: () =>
      fetchPage(client.GET('/domains', { params: { query: { limit: 200, sort: 'name', order: 'asc', ...(q && { name: q }) } } })),
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  })
}

export function domainQuery(id: string) {
  return queryOptions({
    queryKey: ['domains', 'one', id],
    queryFn: () => fetchData(client.GET('/domains/{id}', { params: { path: { id } } })),
    staleTime: 30_000,
  })
}

/** The ID of the only domain with addresses of its own; null if there are none or several. */
export function useOnlyDomain(): string | null {
  const rows = useQuery(domainsQuery()).data?.rows.filter((row) => row.alias_of === null)
  return (rows?.length === 1 && rows[0]?.id) || null
}

/** The name of a domain; empty while loading. */
export function DomainName({ id }: { id: string | null }) {
  const first = useQuery(domainsQuery())
  const listed = first.data?.rows.find((row) => row.id === id)
  const single = useQuery({ ...domainQuery(id ?? ''), enabled: Boolean(id && first.isSuccess && !listed), retry: false })
  return <>{(listed ?? single.data)?.unicode_name ?? ''}</>
}

type Props = Omit<SelectProps, 'data' | 'searchValue' | 'onSearchChange'> & { withAddresses?: boolean; except?: string | undefined }

/**
 * Selects a domain. With many domains, it lists those that contain the typed text. `withAddresses`: no alias domains;
 * `except`: not this domain.
 */
export function DomainSelect({ withAddresses = false, except, ...props }: Props) {
  const [text, setText] = useState('')
  const [q] = useDebouncedValue(text, 200)
  const selected = useQuery({ ...domainQuery(props.value ?? ''), enabled: Boolean(props.value) }).data
  const hasMany = (useQuery(domainsQuery()).data?.rows.length ?? 0) >= 200
  const isSelected = selected?.unicode_name === q
  const matches = useQuery(domainsQuery(hasMany && !isSelected ? q : '')).data?.rows ?? []
  const rows: readonly Schema['DomainRecord'][] =
    selected && !matches.some((row) => row.id === selected.id) ? [selected, ...matches] : matches
  return (
    <Select
      searchable
      nothingFoundMessage="No matching domains"
      clearButtonProps={{ 'aria-label': 'Clear domain' }}
      {...props}
      data={rows
        .filter((row) => row.id !== except && !(withAddresses && row.alias_of !== null))
        .map((row) => ({ value: row.id, label: row.unicode_name }))}
      onSearchChange={setText}
    />
  )
}
