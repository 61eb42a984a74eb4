import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { Allowed } from '../../access/Allowed'
import { formatBytes } from '../../units'
import { ConfirmDelete } from '../../ui/Confirm'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { Icon } from '../../ui/Icon'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'

type CapturedMessage = Schema['SandboxMessageResponse']

const COLUMNS: readonly Column<CapturedMessage>[] = [
  {
    header: 'Subject',
    wide: true,
    cell: (row) => (
      <Link className="row-link" to={PATHS.sandboxMessage} params={{ id: row.id }}>
        {row.subject || '(no subject)'}
      </Link>
    ),
  },
  { header: 'From', cell: (row) => <span className="break">{row.mail_from || '(empty sender)'}</span> },
  { header: 'To', cell: (row) => <Recipients message={row} /> },
  { header: 'Size', align: 'right', cell: (row) => formatBytes(row.size) },
  { header: 'Captured', sort: 'received_at', cell: (row) => <Time at={row.received_at} form="ago" /> },
]

function Recipients({ message }: { message: CapturedMessage }) {
  const [first, ...others] = message.rcpt_to
  return (
    <span className="break" title={message.rcpt_to.join(', ')}>
      {first}
      {others.length > 0 && <span className="muted"> and {others.length} more</span>}
    </span>
  )
}

export function Sandbox() {
  const [isConfirming, setConfirming] = useState(false)
  return (
    <Page
      title="Sandbox"
      lead="With mta.mode = sandbox, the default, outbound mail is captured here. Only mailboxes on this server receive it."
      actions={
        <Allowed action="sandbox">
          <Button variant="default" leftSection={<Icon name="trash" size={16} />} onClick={() => setConfirming(true)}>
            Empty sandbox
          </Button>
        </Allowed>
      }
    >
      <DataList
        label="Captured messages"
        queryKey={['sandbox', 'list']}
        load={(page) => fetchPage(client.GET('/sandbox/messages', { params: { query: { ...page, sort: 'received_at' } } }))}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        refetchEvery={5000}
        empty={
          <EmptyState
            icon="box"
            title="No captured messages"
            action={
              <Button component={Link} to={PATHS.send} leftSection={<Icon name="send" size={16} />}>
                Send a message
              </Button>
            }
          >
            Outbound mail is captured here. To simulate a bounce, a delay, a failure or a complaint, send to <code>bounce@</code>,{' '}
            <code>defer@</code>, <code>fail@</code> or <code>complaint@</code> at any external domain.
          </EmptyState>
        }
      />
      <ConfirmDelete
        opened={isConfirming}
        onClose={() => setConfirming(false)}
        title="Empty sandbox"
        action="Delete all"
        name="sandbox"
        request={() => fetchData(client.DELETE('/sandbox/messages'))}
        invalidates={['sandbox']}
        message={(answer) => answer.message}
      >
        Deletes the captured messages of all users, except those with pending recipients. The history under Messages stays. This can't be
        undone.
      </ConfirmDelete>
    </Page>
  )
}
