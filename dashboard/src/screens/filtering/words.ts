import type { DecidedBy, FilterEntry, FilterSettings, Scope, Threshold } from '../../api/filteringRequests'
import { formatNumber } from '../../locale'
import { pluralize } from '../../units'

/** Where a value comes from, seen from `scope`. */
export function describeSource(source: Scope | 'default', scope: Scope): string {
  if (source === 'default') return 'default'
  if (source === scope) return source === 'server' ? 'set here' : `set for this ${source}`
  return `from the ${source}`
}

export function describeThreshold(value: Threshold): string {
  return value === 'off' ? 'Off' : `From ${value} on`
}

export const DIGESTS = { off: 'Off', daily: 'Daily', weekly: 'Weekly' } as const

export const KINDS: Readonly<Record<FilterEntry['kind'], string>> = { address: 'Address', domain: 'Domain', network: 'Network' }

/** The kind of entry that a text can only be: `a@b.test`, `b.test` or `192.0.2.0/24`. */
export function kindOf(text: string): FilterEntry['kind'] {
  const value = text.trim()
  if (value.includes('@')) return 'address'
  return /^[\d.]+(\/\d+)?$|^[0-9a-f]*:[0-9a-f:.]*(\/\d+)?$/i.test(value) ? 'network' : 'domain'
}

/** What an entry matches. */
export function describeMatch({ kind, value }: Pick<FilterEntry, 'kind' | 'value'>): string {
  if (kind === 'address') return `mail from ${value}`
  return kind === 'domain' ? `mail from ${value} and its sub-domains` : `mail that servers in ${value} deliver`
}

const WHOSE: Readonly<Record<Scope, string>> = { server: 'of the server', domain: 'of the domain', mailbox: 'of the mailbox' }

/** Why a message was filed in Junk, refused or let through. `score`: null if no filter checked it. */
export function describeReason(decided: DecidedBy | null, score: number | null): string {
  const points = score === null ? '' : `Spam score ${formatScore(score)}`
  if (!decided) return points || 'No rule decided'
  const whose = WHOSE[decided.scope]
  switch (decided.rule) {
    case 'allow_entry':
      return `The sender is on the allow list ${whose}`
    case 'deny_entry':
      return `The sender is on the deny list ${whose}`
    case 'junk_score':
      return `${points || 'The spam score'} reaches the Junk threshold ${whose}`
    case 'reject_score':
      return `${points || 'The spam score'} reaches the refusal threshold ${whose}`
    case 'virus':
      return 'It contains a virus'
    case 'encrypted':
      return 'It has an encrypted attachment, which can’t be checked for viruses'
    case 'no_verdict':
      return 'The decision could not be made while it was received'
  }
}

export function formatScore(score: number): string {
  return score.toFixed(1)
}

/** Whether training has an effect, in a badge and a sentence, where there is a filter. */
export function describeTraining({ state, spam_learned, ham_learned, required }: Omit<FilterSettings['training'], 'lessons'>): {
  badge: string
  tone: 'good' | 'info' | 'warn'
  text: string
} {
  if (state === 'unavailable')
    return { badge: 'unknown', tone: 'warn', text: 'The spam filter does not answer at the moment, so what it has learned is not known.' }
  if (state === 'active')
    return {
      badge: 'active',
      tone: 'good',
      text: `What it has learned from ${formatNumber(spam_learned)} spam and ${formatNumber(ham_learned)} wanted messages is part of each score.`,
    }
  return {
    badge: 'collecting',
    tone: 'info',
    text: `What it learns has no effect until it has ${formatNumber(required)} spam and ${formatNumber(required)} wanted messages.`,
  }
}

/** How many messages of a mailbox the filter took to learn from in the last hour, and dropped because of its limit. */
export function describeLessons({ accepted, dropped }: NonNullable<FilterSettings['training']['lessons']>): string {
  const taken = `In the last hour it took ${pluralize(accepted, 'message')} of this mailbox`
  return dropped > 0 ? `${taken}, and dropped ${formatNumber(dropped)}: at most 100 an hour are learned.` : `${taken}.`
}
