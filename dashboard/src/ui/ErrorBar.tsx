import { CloseButton } from '@mantine/core'
import { useState } from 'react'
import { ErrorNote } from './ErrorNote'

/**
 * The error of an action, beside the content, which does not move: below a dialog, otherwise at the top. It stays until
 * it is dismissed or the action is repeated.
 */
export function ErrorBar({ error, besides: formFields = [] }: { error: unknown; besides?: readonly string[] }) {
  const [closed, setClosed] = useState<unknown>(null)
  if (!error || closed === error) return null
  return (
    <div className="error-bar">
      <ErrorNote error={error} besides={formFields} />
      <CloseButton className="error-bar-close" size="sm" aria-label="Dismiss error" onClick={() => setClosed(error)} />
    </div>
  )
}
