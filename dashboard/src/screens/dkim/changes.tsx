import { Button, Checkbox, Modal } from '@mantine/core'
import { useState } from 'react'
import { client, fetchData } from '../../api/client'
import { Badge } from '../../ui/Badge'
import { Confirm, ConfirmDelete } from '../../ui/Confirm'
import { Form } from '../../ui/Form'
import { Icon } from '../../ui/Icon'
import { TableHead } from '../../ui/TableHead'
import { useApiMutation } from '../../ui/useForm'
import { pluralize } from '../../units'
import { describeStatus } from '../dns/records'
import { type DkimKey, type Resolver, resolversOf } from './keys'

const CHANGED = ['dkim', 'dns', 'domains'] as const

interface Props {
  domainId: string
  dkimKey: DkimKey
  onClose: () => void
}

/** Asks before a key signs; if not every name server shows its record, says which don't, and lets the user decide. */
export function ActivateKey({ domainId, dkimKey: key, replaced, onClose }: Props & { replaced: readonly DkimKey[] }) {
  const activate = useApiMutation({
    request: (force: boolean) =>
      fetchData(
        client.POST('/domains/{id}/dkim-keys/{key_id}/activate', {
          params: { path: { id: domainId, key_id: key.id } },
          body: { force },
        }),
      ),
    invalidates: CHANGED,
    message: `${key.selector} signs from now on.`,
    onSuccess: onClose,
  })
  const resolvers = resolversOf(activate.error)
  return (
    <Modal opened onClose={onClose} title={`Activate ${key.selector}`} size="lg">
      {resolvers ? (
        <Unpublished
          key="unpublished"
          name={key.dns.name}
          resolvers={resolvers}
          isPending={activate.isPending}
          onCancel={onClose}
          onAgain={() => activate.mutate(false)}
          onForce={() => activate.mutate(true)}
        />
      ) : (
        <Form
          key="ask"
          onSubmit={() => activate.mutate(false)}
          error={activate.error}
          actions={
            <>
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={activate.isPending}>
                Activate
              </Button>
            </>
          }
        >
          <p>From now on, this key signs the mail of the domain.</p>
          {replaced.length > 0 && (
            <p>
              <strong className="break">{replaced.map((each) => each.selector).join(', ')}</strong> stops signing. Keep its record in DNS
              until the key is retired, because mail that it has signed may still be on its way.
            </p>
          )}
          <p className="muted">First every name server is asked for the record of the new key.</p>
        </Form>
      )}
    </Modal>
  )
}

interface UnpublishedProps {
  name: string
  resolvers: readonly Resolver[]
  isPending: boolean
  onCancel: () => void
  onAgain: () => void
  onForce: () => void
}

function Unpublished({ name, resolvers, isPending, onCancel, onAgain, onForce }: UnpublishedProps) {
  const [isForced, setForced] = useState(false)
  const missing = resolvers.filter((each) => each.status !== 'ok').length
  return (
    <Form
      onSubmit={() => (isForced ? onForce() : onAgain())}
      actions={
        <>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" color={isForced ? 'red' : 'blue'} loading={isPending}>
            {isForced ? 'Activate anyway' : 'Ask again'}
          </Button>
        </>
      }
    >
      <div className="note note-warn" role="alert">
        <Icon name="warn" />
        <div>
          <p className="note-title">
            {missing === resolvers.length
              ? 'The record is not published yet'
              : `${pluralize(missing, 'name server')} of ${resolvers.length} can’t see the record yet`}
          </p>
          <p>
            The key was not activated. Publish <code>{name}</code>, wait until the name servers have it, and ask again. That can take an
            hour.
          </p>
        </div>
      </div>
      <table className="list" role="table" aria-label="Answers of the name servers">
        <TableHead headers={['Name server', 'Record', 'Answer']} />
        <tbody role="rowgroup">
          {resolvers.map((each) => (
            <tr key={each.server} role="row">
              <td role="cell" data-label="Name server">
                <code>{each.server}</code>
              </td>
              <td role="cell" data-label="Record">
                <Badge {...badge(each.status)} />
              </td>
              <td role="cell" data-label="Answer">
                <span className="reason">{each.problem || 'The record is right.'}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Checkbox
        label="Activate the key although not every name server shows its record"
        description="Receivers that can’t find the record can’t verify the mail. They may reject it or treat it as spam."
        checked={isForced}
        onChange={(event) => setForced(event.currentTarget.checked)}
      />
    </Form>
  )
}

function badge(status: Resolver['status']) {
  const { text, tone } = describeStatus({ status, required: true, purpose: 'dkim' })
  return { tone, children: text }
}

/** Ends the use of an active key. */
export function RetireKey({ domainId, dkimKey: key, onClose }: Props) {
  const retire = useApiMutation({
    request: () =>
      fetchData(client.POST('/domains/{id}/dkim-keys/{key_id}/retire', { params: { path: { id: domainId, key_id: key.id } }, body: {} })),
    invalidates: CHANGED,
    message: `${key.selector} does not sign any more.`,
    onSuccess: onClose,
  })
  return (
    <Confirm
      opened
      onClose={onClose}
      title={`Retire ${key.selector}`}
      action="Retire key"
      isPending={retire.isPending}
      error={retire.error}
      onConfirm={() => retire.mutate(undefined)}
    >
      The key stops signing now. Keep its record in DNS until this page says that it is safe to remove: mail that the key has signed may
      still be on its way. Other active keys keep signing.
    </Confirm>
  )
}

/** Deletes a pending or retired key. */
export function DeleteKey({ domainId, dkimKey: key, onClose }: Props) {
  return (
    <ConfirmDelete
      opened
      onClose={onClose}
      title={`Delete ${key.selector}`}
      action="Delete key"
      request={() => fetchData(client.DELETE('/domains/{id}/dkim-keys/{key_id}', { params: { path: { id: domainId, key_id: key.id } } }))}
      invalidates={CHANGED}
      message={(answer) => answer.message}
      onDeleted={onClose}
    >
      {key.stage === 'pending'
        ? 'The key and its private part are deleted. It has signed nothing. Remove its record from DNS, if you have published it.'
        : 'The key disappears from this list. Its record is no longer needed in DNS.'}{' '}
      This can’t be undone.
    </ConfirmDelete>
  )
}
