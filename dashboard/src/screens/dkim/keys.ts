import type { Schema } from '../../api/client'
import { ApiError } from '../../api/errors'
import type { Tone } from '../../ui/Badge'
import type { DnsRecord } from '../dns/records'

export type DkimKey = Schema['DkimKeyRecord']
export type Stage = DkimKey['stage']

export const ALGORITHMS: Readonly<Record<DkimKey['algorithm'], string>> = {
  rsa1024: 'RSA, 1024 bits',
  rsa2048: 'RSA, 2048 bits',
  rsa3072: 'RSA, 3072 bits',
  rsa4096: 'RSA, 4096 bits',
  ed25519: 'Ed25519',
}

export const STAGE_TONES: Readonly<Record<Stage, Tone>> = { pending: 'info', active: 'good', retiring: 'warn', retired: 'calm' }

/** What a key is doing, and what is to be done. */
export function describeStage({
  stage,
  automatic,
  safe_to_remove_from_dns,
}: Pick<DkimKey, 'stage' | 'automatic' | 'safe_to_remove_from_dns'>) {
  switch (stage) {
    case 'pending':
      return automatic
        ? 'Publish its record. Mailkeep activates the key when every name server shows the record.'
        : 'It does not sign yet. Publish its record, and activate it when every name server shows the record.'
    case 'active':
      return 'It signs the mail of the domain. Its record must stay.'
    case 'retiring':
      return 'It does not sign any more. Its record must stay, because mail that it has signed may still be on its way.'
    case 'retired':
      return safe_to_remove_from_dns ? 'Its record is safe to remove from DNS: no mail needs it any more.' : 'It does not sign any more.'
  }
}

function family({ algorithm }: Pick<DkimKey, 'algorithm'>): 'rsa' | 'ed25519' {
  return algorithm === 'ed25519' ? 'ed25519' : 'rsa'
}

/** The active keys that stop signing when `key` is activated: one of each kind signs. */
export function findReplaced(keys: readonly DkimKey[], key: DkimKey): DkimKey[] {
  return keys.filter((each) => each.id !== key.id && each.stage === 'active' && family(each) === family(key))
}

/** Which changes of a key the server allows. */
export function allowedChanges(keys: readonly DkimKey[], { stage }: DkimKey) {
  const active = keys.filter((each) => each.stage === 'active').length
  return {
    activate: stage === 'pending' || stage === 'retiring',
    retire: stage === 'active',
    isLastActive: stage === 'active' && active === 1,
    delete: stage === 'pending' || stage === 'retired',
  }
}

/** The record of a key with the latest of two looks at it: that of the domain's check, and that of the key itself. */
export function toRecord({ dns, stage }: DkimKey, checked: readonly DnsRecord[]): DnsRecord {
  const { name, type, value } = dns
  const record = checked.find((each) => each.purpose === 'dkim' && each.name === name)
  const own = { status: dns.status, checked_at: dns.checked_at, found: [], problem: null, advice: null }
  const isLater = (record?.checked_at ?? '') >= (dns.checked_at ?? '') && record?.status !== 'not_checked'
  const latest = record && isLater ? record : { ...own, advice: describeOwn(dns.status) }
  return {
    purpose: 'dkim',
    description: '',
    ttl: 3600,
    ...latest,
    type,
    name,
    value,
    required: stage === 'active',
  }
}

function describeOwn(status: DkimKey['dns']['status']): string | null {
  if (status === 'missing') return 'The name servers do not have this record yet. After it is published, it can take an hour until all do.'
  if (status === 'mismatch' || status === 'multiple')
    return 'Not every name server has exactly this record. “Check now” shows what they answer.'
  return null
}

export interface Resolver {
  server: string
  status: DnsRecord['status']
  problem: string
  found: readonly string[]
}

/** What each name server answered, if a key was not activated for that reason. */
export function resolversOf(error: unknown): readonly Resolver[] | null {
  if (!(error instanceof ApiError) || error.details['reason'] !== 'not_published') return null
  return Array.isArray(error.details['resolvers']) ? (error.details['resolvers'] as Resolver[]) : null
}

const DAY_MS = 86_400_000

/** When the next active key is due for the automatic rotation; null without one, or if rotation is off. */
export function nextRotation(keys: readonly DkimKey[], days: number): string | null {
  const activated = keys.filter((each) => each.stage === 'active' && each.activated_at).map((each) => Date.parse(each.activated_at!))
  return days && activated.length ? new Date(Math.min(...activated) + days * DAY_MS).toISOString() : null
}
