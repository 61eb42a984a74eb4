import { Select, type SelectProps } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { client, fetchPage } from '../../api/client'

/** The first 200 unsubscribe groups, of one domain or of all. */
export function groupsQuery(domain?: string) {
  return queryOptions({
    queryKey: ['unsubscribe-groups', 'choice', domain ?? ''],
    queryFn: () =>
      fetchPage(client.GET('/unsubscribe-groups', { params: { query: { limit: 200, ...(domain && { domain_id: domain }) } } })),
    staleTime: 30_000,
  })
}

/** The name of a group; empty while loading. */
export function GroupName({ id }: { id: string }) {
  return <>{useQuery(groupsQuery()).data?.rows.find((row) => row.id === id)?.name ?? ''}</>
}

/** Selects an unsubscribe group. */
export function GroupSelect({ domain, ...props }: Omit<SelectProps, 'data'> & { domain?: string }) {
  const rows = useQuery(groupsQuery(domain)).data?.rows ?? []
  return (
    <Select
      searchable
      clearable
      nothingFoundMessage="No matching groups"
      clearButtonProps={{ 'aria-label': 'Clear unsubscribe group' }}
      {...props}
      data={rows.map((row) => ({ value: row.id, label: row.name }))}
    />
  )
}
