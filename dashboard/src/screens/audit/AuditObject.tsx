import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { denialReason } from '../../access/policy'
import { adminsQuery, apiKeysQuery, webhooksQuery } from '../../api/lists'
import { useAccount } from '../../access/account'
import { domainsQuery } from '../domains/DomainSelect'

type Entry = Schema['AuditEntryResponse']
type Details = Readonly<Record<string, unknown>>

/**
 * The object of an audit entry by name, as a link if it still exists. The name comes from the object, otherwise from
 * this entry or another one of the page.
 */
export function AuditObject({ entry, rows }: { entry: Entry; rows: readonly Entry[] }) {
  const current = useCurrentObject(entry)
  const related = rows.filter((row) => row.resource_type === entry.resource_type && row.resource_id === entry.resource_id)
  const name = current.name ?? [entry, ...related].map(recordedName).find(Boolean)
  const kind = entry.resource_type.replaceAll('_', ' ')
  if (!entry.resource_id) return <span className="muted">{kind}</span>
  if (name) return <span title={`${kind} ${name}`}>{current.link ? current.link(name) : name}</span>
  return (
    <span>
      <span className="muted">{kind}</span> <code title={entry.resource_id}>…{entry.resource_id.slice(-12)}</code>
    </span>
  )
}

/** The name recorded in an entry, after the change or else before it. */
function recordedName(entry: Entry): string | undefined {
  const details = entry.details as Details
  const before = recordOf(details['before'])
  const after = recordOf(details['after'])
  const field = (name: string) => asText(after[name]) ?? asText(before[name]) ?? asText(details[name])
  const local = after['source_local_part'] ?? before['source_local_part']
  if (entry.resource_type === 'alias' && typeof local === 'string') return formatAlias(local, entry.domain_name)
  if (entry.resource_type === 'domain') return field('name') ?? entry.domain_name ?? undefined
  if (entry.resource_type === 'message') return asText(Array.isArray(details['message_ids']) ? details['message_ids'][0] : undefined)
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
function useCurrentObject(entry: Entry): CurrentObject {
  const account = useAccount()
  const id = entry.resource_id ?? ''
  const is = (kind: string) => entry.resource_type === kind && id !== ''
  const isGone = entry.action.endsWith('.delete') || entry.action.endsWith('.purge')
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
  if (is('domain')) return toLink(byId(domains)?.unicode_name, { to: PATHS.domain, params: { id } })
  if (is('mailbox')) return toLink(mailbox && !mailbox.deleted_at ? mailbox.address : undefined, { to: PATHS.mailbox, params: { id } })
  if (is('webhook')) return toLink(byId(webhooks)?.url, { to: PATHS.webhook, params: { id } })
  if (is('message')) return toLink(message && (message.subject || '(no subject)'), { to: PATHS.message, params: { id } })
  if (is('admin')) return toLink(byId(admins)?.email, { to: PATHS.admins })
  if (is('api_key')) return toLink(byId(keys)?.name, { to: PATHS.keys })
  if (is('alias') && alias)
    return toLink(formatAlias(alias.source_local_part, entry.domain_name), {
      to: PATHS.aliases,
      search: { domain: alias.domain_id, edit: id },
    })
  return {}
}

function toLink(name: string | undefined, target: LinkProps): CurrentObject {
  return name ? { name, link: (label) => <Link {...target}>{label}</Link> } : {}
}

function objectQuery<Found>(list: string, id: string, enabled: boolean, queryFn: () => Promise<Found>): UseQueryOptions<Found> {
  return { queryKey: [list, 'one', id], queryFn, enabled, retry: false, staleTime: 60_000 }
}

function recordOf(value: unknown): Details {
  return typeof value === 'object' && value !== null ? (value as Details) : {}
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
