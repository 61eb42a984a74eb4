import type { Drafts, Kind } from './values'

/** Edits that are kept in this tab while the user signs in again. */
export interface KeptEdits {
  account: string
  /** The version that the edits are based on. */
  tag: string | undefined
  original: Drafts
  edits: Drafts
  /** Whether secrets were entered, which are not kept. */
  hadSecrets: boolean
}

const STORAGE_KEY = 'mailkeep-settings-edits'

export function keepEdits(
  account: string,
  tag: string | undefined,
  kinds: Readonly<Record<string, Kind>>,
  { saved, values, edited }: { saved: Drafts; values: Drafts; edited: readonly string[] },
  isSecret: (key: string) => boolean,
): void {
  const names = edited.filter((key) => key in kinds && !isSecret(key))
  const pick = (from: Drafts) => Object.fromEntries(names.map((key) => [key, from[key] ?? null]))
  const kept: KeptEdits = { account, tag, original: pick(saved), edits: pick(values), hadSecrets: names.length < edited.length }
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(kept))
}

/** Returns the edits of this account and forgets them. */
export function takeKeptEdits(account: string): KeptEdits | null {
  const text = sessionStorage.getItem(STORAGE_KEY)
  sessionStorage.removeItem(STORAGE_KEY)
  if (!text) return null
  const kept = JSON.parse(text) as KeptEdits
  return kept.account === account ? kept : null
}
