import { Button } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { ErrorNote } from '../ui/ErrorNote'

/** Shown instead of a screen that failed to render or load. */
export function ScreenError({ error, reset }: ErrorComponentProps) {
  return (
    <div className="screen-error">
      <h1>This screen failed to load</h1>
      <ErrorNote error={error} />
      <Button onClick={() => reset()}>Try again</Button>
    </div>
  )
}
