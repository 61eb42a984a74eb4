import { CloseButton } from '@mantine/core'
import { useState } from 'react'
import { ErrorNote } from './ErrorNote'

/**
 * What an action came to, beside the screen's content, which does not move for it: below a dialog, else at the top.
 * It stays until it is closed, or the action is repeated.
 */
export function ErrorBar({ error, besides = [] }: { error: unknown; besides?: readonly string[] }) {
  const [closed, setClosed] = useState<unknown>(null)
  if (!error || closed === error) return null
  return (
    <div className="error-bar">
      <ErrorNote error={error} besides={besides} />
      <CloseButton className="error-bar-close" size="sm" aria-label="Dismiss the error" onClick={() => setClosed(error)} />
    </div>
  )
}
