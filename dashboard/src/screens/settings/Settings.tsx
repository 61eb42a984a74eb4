import { queryOptions, useQuery } from '@tanstack/react-query'
import { client, fetchData } from '../../api/client'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { Page } from '../../ui/Page'
import { Editor, LEAD } from './Editor'
import type { ValueSchema } from './values'

export function configQuery() {
  return queryOptions({ queryKey: ['config', 'settings'], queryFn: () => fetchData(client.GET('/config')) })
}

function schemaQuery() {
  return queryOptions({
    queryKey: ['config schema'],
    queryFn: async () => (await fetchData(client.GET('/config/schema'))) as { properties: Record<string, ValueSchema> },
    staleTime: Infinity,
  })
}

/** All settings: search, change, history. */
export function Settings() {
  const config = useQuery(configQuery())
  const schema = useQuery(schemaQuery())
  const error = (!config.data && config.error) || (!schema.data && schema.error)
  if (config.data && schema.data) return <Editor settings={config.data} updatedAt={config.dataUpdatedAt} schemas={schema.data.properties} />
  return (
    <Page title="Settings" lead={LEAD}>
      {error ? <ErrorNote error={error} /> : <LoadingLines count={8} />}
    </Page>
  )
}
