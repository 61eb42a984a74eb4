import { Anchor, Button } from '@mantine/core'
import { type ErrorComponentProps, Link } from '@tanstack/react-router'
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

export function NoSuchScreen() {
  return (
    <div className="broken">
      <title>Not found · Mailkeep</title>
      <h1>There is nothing at this address</h1>
      <p>
        Go to the{' '}
        <Anchor component={Link} to="/">
          overview
        </Anchor>
        .
      </p>
    </div>
  )
}
