import { Button } from '@mantine/core'
import { Allowed } from '../access/Allowed'
import type { Action } from '../access/policy'
import { useSearchParams } from '../search'
import { Icon } from './Icon'

/** Opens the form of a new object. */
export function NewButton({ action, label }: { action: Action; label: string }) {
  const [, change] = useSearchParams()
  return (
    <Allowed action={action}>
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => change({ new: 'yes' })}>
        {label}
      </Button>
    </Allowed>
  )
}
