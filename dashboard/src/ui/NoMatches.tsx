import { Button } from '@mantine/core'
import { useSearchParams } from '../search'
import { EmptyState } from './Empty'

/** Shown instead of a list whose filters match nothing. */
export function NoMatches({ what, filters, children }: { what: string; filters: readonly string[]; children?: string }) {
  const [, change] = useSearchParams()
  const clear = () => change(Object.fromEntries(filters.map((name) => [name, undefined])))
  return (
    <EmptyState
      icon="search"
      title={`No matching ${what}`}
      action={
        <Button variant="default" onClick={clear}>
          Clear filters
        </Button>
      }
    >
      {children ?? 'Change or clear the filters.'}
    </EmptyState>
  )
}
