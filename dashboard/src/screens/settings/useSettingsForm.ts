import { useEffect, useState } from 'react'
import { useAccount } from '../../access/account'
import { client, fetchData, type Schema } from '../../api/client'
import { ApiError } from '../../api/errors'
import { useVersion } from '../../ui/ConflictDialog'
import { notify } from '../../ui/notify'
import { useApiMutation, useForm } from '../../ui/useForm'
import { keepEdits, takeKeptEdits } from './keptEdits'
import { needsRecentSignIn } from '../../ui/RecentSignIn'
import { collectChanges, type Drafts, type Kind, kindOf, listEdited, type Setting, toDraft, type ValueSchema, whyFixed } from './values'

const PATH = '/config'

interface Saving {
  comment: string
  current_password?: string
}

/** The edits of settings, with the requests that check and save them. */
export function useSettingsForm(settings: readonly Setting[], updatedAt: number, schemas: Readonly<Record<string, ValueSchema>>) {
  const account = useAccount()
  const kinds: Record<string, Kind> = Object.fromEntries(
    settings.filter((each) => !whyFixed(each)).map((each) => [each.key, kindOf(each, schemas[each.key])]),
  )
  const [kept] = useState(() => takeKeptEdits(account.id))
  const [reviewed, setReviewed] = useState<Schema['ConfigChangeResponse'] | null>(null)
  const [opened, setOpened] = useState<readonly string[]>(Object.keys(kept?.edits ?? {}))
  const version = useVersion(PATH, kept?.tag)
  const check = useApiMutation({
    request: (values: Drafts): Promise<Schema['ConfigChangeResponse']> => fetchData(patch({ changes: readChanges(values), dry_run: true })),
    invalidates: [],
    onSuccess: setReviewed,
  })
  const save = useApiMutation({
    request: (fields: Saving): Promise<Schema['ConfigChangeResponse']> =>
      fetchData(patch({ changes: readChanges(form.values), ...fields })),
    invalidates: ['config', 'orchestrator'],
    message: (answer) => (answer.needs_restart.length ? 'Saved. Some settings do not apply yet.' : 'Saved. The settings apply now.'),
    onSuccess: () => {
      form.markSaved()
      version.refresh()
      setReviewed(null)
      setOpened([])
    },
  })
  const error = save.error ?? check.error
  const form = useForm<Drafts>(toDrafts(settings, kinds), nameFields(error))

  function patch(body: Schema['ConfigPatch']) {
    return client.PATCH(PATH, { params: { header: version.header }, body })
  }
  function readChanges(values: Drafts): Record<string, unknown> {
    const { changes, faults } = collectChanges(kinds, form.savedValues(), values)
    if (Object.keys(faults).length > 0)
      throw new ApiError({
        code: 'INVALID_FIELD',
        message: 'Some settings are not valid.',
        details: { fields: Object.entries(faults).map(([key, reason]) => ({ field: `changes.${key}`, reason })) },
      })
    return changes
  }
  function forgetErrors() {
    check.reset()
    save.reset()
  }
  useEffect(() => {
    if (!kept) return
    const current = toDrafts(settings, kinds)
    form.rebase({ ...current, ...kept.original }, { ...current, ...kept.edits })
    notify(kept.hadSecrets ? 'Your changes are here again. Enter the secrets again.' : 'Your changes are here again.')
  }, [kept])
  // Without edits, the form follows the server.
  useEffect(() => {
    if (form.isDirty()) return
    form.reset(toDrafts(settings, kinds))
    version.refresh()
  }, [updatedAt])
  // When the session ends, the edits wait for the next one.
  useEffect(() => {
    const leave = () => {
      if (!form.isDirty()) return
      const saved = form.savedValues()
      const isSecret = (key: string) => settings.some((each) => each.key === key && each.secret)
      keepEdits(account.id, version.tag, kinds, { saved, values: form.values, edited: listEdited(saved, form.values) }, isSecret)
    }
    window.addEventListener('mailkeep:logged-out', leave)
    return () => window.removeEventListener('mailkeep:logged-out', leave)
  })
  const isConflict = error instanceof ApiError && error.code === 'PRECONDITION_FAILED'
  const areFieldsRefused = error instanceof ApiError && Array.isArray(error.details['fields'])
  return {
    form,
    kinds,
    version,
    save,
    isChecking: check.isPending,
    /** Asks the server what these values would change. */
    review: (values: Drafts) => {
      save.reset()
      if (listEdited(form.savedValues(), values).length > 0) check.mutate(values)
    },
    forgetErrors,
    error: isConflict || needsRecentSignIn(error) ? null : nameFields(error),
    conflict: isConflict ? error : null,
    edited: listEdited(form.savedValues(), form.values),
    /** The keys whose input is shown. */
    opened,
    setOpened,
    reviewed: isConflict || areFieldsRefused ? null : reviewed,
    closeReview: () => {
      setReviewed(null)
      forgetErrors()
    },
    /** The current values after a conflict. A secret that has changed differs, although it is masked. */
    loadCurrent: async () => {
      const current = await fetchData(client.GET(PATH))
      const changed = isConflict ? (error.details['changed'] as readonly string[]) : []
      const drafts = toDrafts(current, kinds)
      for (const setting of current.filter((each) => each.secret && changed.includes(each.key)))
        drafts[setting.key] = { text: String(drafts[setting.key] ?? ''), changedIn: String(isConflict && error.details['actual']) }
      return drafts
    },
  }
}

export type SettingsForm = ReturnType<typeof useSettingsForm>

function toDrafts(settings: readonly Setting[], kinds: Readonly<Record<string, Kind>>): Drafts {
  const drafts: Drafts = {}
  for (const setting of settings) {
    const kind = kinds[setting.key]
    if (kind) drafts[setting.key] = toDraft(setting, kind)
  }
  return drafts
}

/** The error with keys of settings in place of `changes.KEY`; the same object for the same error. */
function nameFields(error: unknown): unknown {
  if (!(error instanceof ApiError) || !Array.isArray(error.details['fields'])) return error
  const known = NAMED.get(error)
  if (known) return known
  const fields = error.details['fields'].map((each: { field: string; reason: string }) => ({
    ...each,
    field: each.field.replace(/^changes\./, ''),
  }))
  const named = new ApiError({ ...error, message: error.message, details: { ...error.details, fields } })
  NAMED.set(error, named)
  return named
}

const NAMED = new WeakMap<ApiError, ApiError>()
