const NAME = 'mailkeep-draft'

/** A message that is written and not sent yet. */
export interface Draft<Values> {
  /** Id of the account that writes it: others who log in in this tab don't see it. */
  whose: string
  /** What the address of the screen gave it to begin with. */
  address: string
  values: Values
  form: 'text' | 'html'
  /** Names of the attached files, whose content is not kept. */
  files: readonly string[]
}

/** Keep it in this tab until it is sent: it outlasts a session that ends, and a reload. */
export function keepDraft(draft: Draft<unknown>): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(draft))
  } catch {
    // A browser that keeps nothing, or not so much: writing goes on without.
    dropDraft()
  }
}

/** The draft of this account that was begun at this address, null where there is none. */
export function keptDraft<Values>(whose: string, address: string): Draft<Values> | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(NAME) ?? 'null') as Draft<Values> | null
    if (kept && kept.whose !== whose) dropDraft()
    return kept?.whose === whose && kept.address === address ? kept : null
  } catch {
    return null
  }
}

export function dropDraft(): void {
  try {
    sessionStorage.removeItem(NAME)
  } catch {
    // There is none where nothing is kept.
  }
}
