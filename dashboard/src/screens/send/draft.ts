const NAME = 'mailkeep-draft'

/** How the content of a message is given. */
export type Format = 'text' | 'html' | 'template'

/** An unsent message. */
export interface Draft<Values> {
  /** The author's account: other accounts in this tab don't see the draft. */
  accountId: string
  /** The query parameters with which the draft started. */
  query: string
  values: Values
  format: Format
  /** Names of the attached files. Their content is not stored. */
  files: readonly string[]
}

/** Stores the draft in this tab. It survives a reload and an expired session. */
export function saveDraft(draft: Draft<unknown>): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(draft))
  } catch {
    // The storage is disabled or full: continue without a stored draft.
    deleteDraft()
  }
}

/** The draft of this account for these query parameters, or null. */
export function loadDraft<Values>(accountId: string, query: string): Draft<Values> | null {
  try {
    const draft = JSON.parse(sessionStorage.getItem(NAME) ?? 'null') as Draft<Values> | null
    if (draft && draft.accountId !== accountId) deleteDraft()
    return draft?.accountId === accountId && draft.query === query ? draft : null
  } catch {
    return null
  }
}

export function deleteDraft(): void {
  try {
    sessionStorage.removeItem(NAME)
  } catch {
    // The storage is disabled.
  }
}
