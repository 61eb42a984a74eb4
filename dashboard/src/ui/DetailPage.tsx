import { Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Allowed } from '../access/Allowed'
import type { Action } from '../access/policy'
import { PATHS } from '../paths'
import { useSearchParams } from '../search'
import { LoadingLines } from './DataList'
import { ErrorNote } from './ErrorNote'
import { Icon } from './Icon'
import { isNotFound, ObjectNotFound } from './ObjectNotFound'
import { Page } from './Page'

interface Props<Data> {
  /** The kind of object, as a heading. */
  kind: string
  /** The list that the object belongs to. */
  list: {
    to: (typeof PATHS)['backups' | 'domains' | 'incidents' | 'mailboxes' | 'messages' | 'sandbox' | 'templates' | 'webhooks']
    label: string
  }
  query: Pick<UseQueryResult<Data>, 'data' | 'error'>
  title: (data: Data) => string
  lead?: (data: Data) => ReactNode
  actions?: (data: Data) => ReactNode
  children: (data: Data) => ReactNode
}

/** The screen of one object, also while it loads, if it fails to load and if it does not exist. */
export function DetailPage<Data>({ kind, list, query, title, lead, actions, children }: Props<Data>) {
  const { data, error } = query
  const back = <Link to={list.to}>← {list.label}</Link>
  if (isNotFound(error)) return <ObjectNotFound title={`${kind} not found`} back={back} error={error} />
  if (data === undefined)
    return (
      <Page title={kind} back={back}>
        {error ? <ErrorNote error={error} /> : <LoadingLines />}
      </Page>
    )
  return (
    <Page title={title(data)} back={back} lead={lead?.(data)} actions={actions?.(data)}>
      {children(data)}
    </Page>
  )
}

/** Opens the tab Settings. */
export function EditButton({ action }: { action: Action }) {
  const [, change] = useSearchParams()
  return (
    <Allowed action={action}>
      <Button leftSection={<Icon name="edit" size={16} />} onClick={() => change({ tab: 'settings' })}>
        Edit
      </Button>
    </Allowed>
  )
}
