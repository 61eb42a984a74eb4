import { Button, Checkbox } from '@mantine/core'
import { useState } from 'react'
import type { Action } from '../../access/policy'
import { Allowed } from '../../access/Allowed'
import { type BulkAction, type BulkItem, type BulkResource, followOperation, submitParts } from '../../api/operations'
import { pluralize } from '../../units'
import { Confirm } from '../../ui/Confirm'
import { useApiMutation } from '../../ui/useForm'
import { Icon, type IconName } from '../../ui/Icon'
import type { Selection } from '../../ui/selection'

interface BulkCommand {
  label: string
  icon: IconName
  action: BulkAction
  fields: BulkItem
  /** “Deactivating 3 mailboxes”. */
  progress: string
  consequence: string
}

interface Texts {
  singular: string
  plural: string
  deactivated: string
  deleted: string
}

const TEXTS: Readonly<Record<BulkResource, Texts>> = {
  mailbox: {
    singular: 'mailbox',
    plural: 'mailboxes',
    deactivated: 'They reject mail, and their owners can no longer sign in.',
    deleted: 'They reject mail from now on. Their mail stays in the trash for 30 days and can be restored.',
  },
  alias: {
    singular: 'alias',
    plural: 'aliases',
    deactivated: 'Mail for them is no longer forwarded.',
    deleted: 'Mail for them is no longer forwarded. This can’t be undone.',
  },
}

function commands({ deactivated, deleted }: Texts): readonly BulkCommand[] {
  return [
    {
      label: 'Activate',
      icon: 'check',
      action: 'update',
      fields: { active: true },
      progress: 'Activating',
      consequence: 'They are used again.',
    },
    { label: 'Deactivate', icon: 'pause', action: 'update', fields: { active: false }, progress: 'Deactivating', consequence: deactivated },
    { label: 'Delete', icon: 'trash', action: 'delete', fields: {}, progress: 'Deleting', consequence: deleted },
  ]
}

interface Props<Row> {
  resource: BulkResource
  rows: readonly Row[]
  selection: Selection
  nameOf: (row: Row) => string
}

/** Actions on the selected rows. */
export function SelectionBar<Row extends { id: string }>({ resource, rows, selection, nameOf }: Props<Row>) {
  const [command, setCommand] = useState<BulkCommand | null>(null)
  const texts = TEXTS[resource]
  const chosen = rows.filter(({ id }) => selection.selected.has(id))
  const count = chosen.length
  const start = useApiMutation({
    request: async ({ action, fields, progress }: BulkCommand) => {
      const ids = await submitParts(
        resource,
        action,
        chosen.map(({ id }) => ({ id, ...fields })),
      )
      followOperation({ ids, title: `${progress} ${pluralize(count, texts.singular, texts.plural)}`, names: chosen.map(nameOf) })
    },
    invalidates: [],
    onSuccess: () => {
      selection.clear()
      setCommand(null)
    },
  })
  const permission: Action = resource === 'mailbox' ? 'mailbox.bulk' : 'alias.bulk'
  return (
    <div className="list-bar">
      <Checkbox
        aria-label={`Select all loaded ${texts.plural}`}
        checked={count > 0 && count === rows.length}
        indeterminate={count > 0 && count < rows.length}
        onChange={(event) =>
          selection.select(
            rows.map(({ id }) => id),
            event.currentTarget.checked,
          )
        }
      />
      <span className="list-bar-text" role="status">
        {count > 0 ? `${pluralize(count, texts.singular, texts.plural)} selected` : 'None selected'}
      </span>
      {commands(texts).map((each) => (
        <Allowed key={each.label} action={permission} disabledReason={count > 0 ? null : `Select ${texts.plural} first.`}>
          <Button size="xs" variant="default" leftSection={<Icon name={each.icon} size={14} />} onClick={() => setCommand(each)}>
            {each.label}
          </Button>
        </Allowed>
      ))}
      {command && (
        <Confirm
          opened
          onClose={() => {
            start.reset()
            setCommand(null)
          }}
          title={`${command.label} ${pluralize(count, texts.singular, texts.plural)}`}
          action={command.label}
          isPending={start.isPending}
          error={start.error}
          onConfirm={() => start.mutate(command)}
        >
          <p>{command.consequence}</p>
          <p className="muted">
            {chosen.slice(0, 5).map(nameOf).join(', ')}
            {count > 5 && ` and ${count - 5} more`}
          </p>
        </Confirm>
      )}
    </div>
  )
}
