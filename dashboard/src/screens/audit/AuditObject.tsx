import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { denialReason } from '../../access/policy'
import { adminsQuery, apiKeysQuery, webhooksQuery } from '../../api/lists'
import { useAccount } from '../../access/Allowed'
import { domainsQuery } from '../domains/DomainSelect'

type Entry = Schema['AuditEntryResponse']
type Details = Readonly<Record<string, unknown>>

/**
 * The object of an audit entry by name, as a link if it still exists. The name comes from the object, otherwise from
 * this entry or another one of the page.
 */
export function AuditObject({ of, rows }: { of: Entry; rows: readonly Entry[] }) {
  const present = useCurrentObject(of)
  const about = rows.filter((row) => row.resource_type === of.resource_type && row.resource_id === of.resource_id)
  const name = present.name ?? [of, ...about].map(recordedName).find(Boolean)
  const kind = of.resource_type.replaceAll('_', ' ')
  if (!of.resource_id) return <span className="muted">{kind}</span>
  if (name) return <span title={`${kind} ${name}`}>{present.link ? present.link(name) : name}</span>
  return (
    <span>
      <span className="muted">{kind}</span> <code title={of.resource_id}>…{of.resource_id.slice(-12)}</code>
    </span>
  )
}

/** The name recorded in an entry, after the change or else before it. */
function recordedName(entry: Entry): string | undefined {
  const details = entry.details as Details
  const before = recordOf(details['before'])
  const after = recordOf(details['after'])
  const field = (name: string) => text(after[name]) ?? text(before[name]) ?? text(details[name])
  const local = after['source_local_part'] ?? before['source_local_part']
  if (entry.resource_type === 'alias' && typeof local === 'string') return formatAlias(local, entry.domain_name)
  if (entry.resource_type === 'domain') return field('name') ?? entry.domain_name ?? undefined
  if (entry.resource_type === 'message') return text(Array.isArray(details['message_ids']) ? details['message_ids'][0] : undefined)
  if (entry.resource_type === 'session') return entry.actor.label
  return field('address') ?? field('email') ?? field('url') ?? field('name')
}

function formatAlias(local: string, domain: string | null): string {
  return `${local || '(catch-all)'}@${domain ?? '…'}`
}

interface CurrentObject {
  name?: string
  link?: (name: string) => ReactNode
}

/** The object as it is now; empty if it was deleted or has no screen. */
function useCurrentObject(of: Entry): CurrentObject {
  const account = useAccount()
  const id = of.resource_id ?? ''
  const is = (kind: string) => of.resource_type === kind && id !== ''
  const isGone = of.action.endsWith('.delete') || of.action.endsWith('.purge')
  const domains = useQuery({ ...domainsQuery(), enabled: is('domain') }).data?.rows
  const admins = useQuery({ ...adminsQuery(), enabled: is('admin') }).data
  const keys = useQuery({ ...apiKeysQuery(), enabled: is('api_key') }).data
  const webhooks = useQuery({ ...webhooksQuery(), enabled: is('webhook') && !denialReason(account, 'webhook.list') }).data
  const mailbox = useQuery(
    objectQuery('mailboxes', id, is('mailbox') && !isGone, () => fetchData(client.GET('/mailboxes/{id}', { params: { path: { id } } }))),
  ).data
  const alias = useQuery(
    objectQuery('aliases', id, is('alias') && !isGone, () => fetchData(client.GET('/aliases/{id}', { params: { path: { id } } }))),
  ).data
  const message = useQuery(
    objectQuery('messages', id, is('message'), () => fetchData(client.GET('/messages/{id}', { params: { path: { id } } }))),
  ).data
  const byId = <Row extends { id: string }>(rows: readonly Row[] | undefined) => rows?.find((row) => row.id === id)
  if (is('domain')) return linked(byId(domains)?.unicode_name, { to: PATHS.domain, params: { id } })
  if (is('mailbox')) return linked(mailbox && !mailbox.deleted_at ? mailbox.address : undefined, { to: PATHS.mailbox, params: { id } })
  if (is('webhook')) return linked(byId(webhooks)?.url, { to: PATHS.webhook, params: { id } })
  if (is('message')) return linked(message && (message.subject || '(no subject)'), { to: PATHS.message, params: { id } })
  if (is('admin')) return linked(byId(admins)?.email, { to: PATHS.admins })
  if (is('api_key')) return linked(byId(keys)?.name, { to: PATHS.keys })
  if (is('alias') && alias)
    return linked(formatAlias(alias.source_local_part, of.domain_name), {
      to: PATHS.aliases,
      search: { domain: alias.domain_id, edit: id },
    })
  return {}
}

function linked(name: string | undefined, target: LinkProps): CurrentObject {
  return name ? { name, link: (label) => <Link {...target}>{label}</Link> } : {}
}

function objectQuery<Found>(list: string, id: string, enabled: boolean, queryFn: () => Promise<Found>): UseQueryOptions<Found> {
  return { queryKey: [list, 'one', id], queryFn, enabled, retry: false, staleTime: 60_000 }
}

function recordOf(value: unknown): Details {
  return typeof value === 'object' && value !== null ? (value as Details) : {}
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
