import { Button } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { ErrorNote } from './ErrorNote'

/** A screen that failed while it was drawn or loaded. */
export function Broken({ error, reset }: ErrorComponentProps) {
  return (
    <div className="broken">
      <h1>This screen could not be shown</h1>
      <ErrorNote error={error} />
      <Button onClick={() => reset()}>Try again</Button>
    </div>
  )
}

