import type { Schema } from '../../../api/client'
import { ApiError } from '../../../api/errors'

export type ScriptMessage = Schema['ScriptMessageResponse']

/** What a script does with a message, in words. */
export function describeAction(action: Schema['ScriptActionResponse']): string {
  const flags = action.flags.length > 0 ? `, with the flags ${action.flags.join(' ')}` : ''
  switch (action.action) {
    case 'keep':
      return `Keep the message in the inbox${flags}`
    case 'fileinto':
      return `File the message into “${action.folder ?? ''}”${action.create ? ' (created if missing)' : ''}${flags}`
    case 'redirect':
      return `Forward the message to ${action.address ?? ''}`
    case 'discard':
      return 'Discard the message without an answer'
    case 'reject':
      return `Reject the message: “${action.text ?? ''}”`
    case 'vacation':
      return `Answer the sender${action.subject ? ` with the subject “${action.subject}”` : ''}: “${action.text ?? ''}”`
    default:
      return action.description
  }
}

/** The errors of a refused script, if it was refused because it does not compile. */
export function errorsOf(error: unknown): ScriptMessage[] {
  const errors = error instanceof ApiError ? error.details['errors'] : null
  return Array.isArray(errors) ? (errors as ScriptMessage[]) : []
}

export function formatMessage({ line, message }: ScriptMessage): string {
  return line === null ? message : `Line ${line}: ${message}`
}
