import type { Schema } from '../../api/client'

export type IncidentRecord = Schema['IncidentRecord']
export type IncidentAction = IncidentRecord['actions'][number]['action']
export type SubjectType = IncidentRecord['subject']['type']

export const SUBJECT_TYPES: Readonly<Record<SubjectType, string>> = { mailbox: 'Mailbox', api_key: 'API key', admin: 'Administrator' }

interface ActionText {
  label: string
  /** What it does, and what undo can't restore. */
  help: string
  subjects: readonly SubjectType[]
  /** Needs the daemons. */
  full?: true
}

/** In the order in which the server carries them out. */
export const ACTIONS: Readonly<Record<IncidentAction, ActionText>> = {
  suspend: { label: 'Suspend', help: 'The address can’t send; an account is disabled, with its keys', subjects: ['mailbox', 'admin'] },
  disable_sign_in: { label: 'Disable sign-in', help: 'Its passwords open nothing; it still receives mail', subjects: ['mailbox'] },
  disable_keys: { label: 'Disable API keys', help: 'Those that exist now, with those they created', subjects: ['api_key', 'admin'] },
  disable_app_passwords: { label: 'Disable app passwords', help: 'Those that exist now', subjects: ['mailbox'] },
  block_app_passwords: { label: 'Block new app passwords', help: 'Nobody can create one', subjects: ['mailbox'] },
  disable_forwards: { label: 'Disable forwarding', help: 'Mail stays in the mailbox instead', subjects: ['mailbox'] },
  disable_sieve: { label: 'Disable Sieve', help: 'No script and no vacation reply runs', subjects: ['mailbox'], full: true },
  end_sessions: { label: 'End sessions', help: 'Once; can’t be undone', subjects: ['mailbox', 'api_key', 'admin'] },
  hold_queue: { label: 'Hold queued mail', help: 'What waits now, until the undo', subjects: ['mailbox', 'api_key', 'admin'], full: true },
  delete_queue: { label: 'Delete queued mail', help: 'Can’t be undone', subjects: ['mailbox', 'api_key', 'admin'], full: true },
}
export const ACTION_NAMES = Object.keys(ACTIONS) as readonly IncidentAction[]

/** What is chosen at first: what stops an attacker and can be undone, and the end of sessions. */
export const USUAL: readonly IncidentAction[] = [
  'suspend',
  'disable_sign_in',
  'disable_keys',
  'disable_app_passwords',
  'disable_forwards',
  'end_sessions',
]
