import { ActionIcon } from '@mantine/core'
import { Allowed } from '../access/Allowed'
import type { Action } from '../access/policy'
import { Icon } from './Icon'

interface Props {
  action: Action
  name: 'edit' | 'trash'
  label: string
  onClick: () => void
}

/** A button in the row of a list, for those who may do `action`. */
export function RowButton({ action, name, label, onClick }: Props) {
  return (
    <Allowed action={action}>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} onClick={onClick}>
        <Icon name={name} size={16} />
      </ActionIcon>
    </Allowed>
  )
}
