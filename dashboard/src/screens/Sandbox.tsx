import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, askPage, client, type Schema } from '../api/client'
import { PATHS } from '../paths'
import { Allowed } from '../ui/Allowed'
import { bytes } from '../ui/bytes'
import { Confirm } from '../ui/Confirm'
import { type Column, DataList } from '../ui/DataList'
import { Empty } from '../ui/Empty'
import { useChange } from '../ui/form'
import { Icon } from '../ui/Icon'
import { Page } from '../ui/Page'
import { Time } from '../ui/Time'

type Caught = Schema['SandboxMessageResponse']

const COLUMNS: readonly Column<Caught>[] = [
  {
    head: 'Subject',
    wide: true,
    cell: (row) => (
      <Link className="row-link" to={PATHS.caught} params={{ id: row.id }}>
        {row.subject || '(no subject)'}
      </Link>
    ),
  },
  { head: 'From', cell: (row) => <span className="break">{row.mail_from || 'nobody'}</span> },
  { head: 'To', cell: (row) => <Recipients of={row} /> },
  { head: 'Size', align: 'right', cell: (row) => bytes(row.size) },
  { head: 'Caught', sort: 'received_at', cell: (row) => <Time at={row.received_at} form="ago" /> },
]

function Recipients({ of }: { of: Caught }) {
  const [first, ...others] = of.rcpt_to
  return (
    <span className="break" title={of.rcpt_to.join(', ')}>
      {first}
      {others.length > 0 && <span className="soft"> and {others.length} more</span>}
    </span>
  )
}

export function Sandbox() {
  const [isAsked, setAsked] = useState(false)
  const clear = useChange({
    change: () => ask(client.DELETE('/sandbox/messages')),
    refreshes: ['sandbox'],
    told: (answer) => answer.message,
    then: () => setAsked(false),
  })
  return (
    <Page
      title="Sandbox inbox"
      lead="All outbound mail ends here while the sandbox is the mail server: signed as it would leave, and shown to you alone."
      actions={
        <Allowed to="sandbox">
          <Button variant="default" leftSection={<Icon name="trash" size={16} />} onClick={() => setAsked(true)}>
            Empty it
          </Button>
        </Allowed>
      }
    >
      <DataList
        label="Caught messages"
        of={['sandbox', 'list']}
        load={(page) => askPage(client.GET('/sandbox/messages', { params: { query: { ...page, sort: 'received_at' } } }))}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        every={5000}
        empty={
          <Empty
            icon="box"
            title="Nothing was caught yet"
            action={
              <Button component={Link} to={PATHS.send} leftSection={<Icon name="send" size={16} />}>
                Send something
              </Button>
            }
          >
            While the sandbox is the mail server, what is sent to any address goes nowhere but here. Those whose local part is <code>bounce</code>, <code>defer</code> or <code>fail</code> meet that fate, so that you can try what your program makes of it.
          </Empty>
        }
      />
      <Confirm opened={isAsked} onClose={() => setAsked(false)} title="Empty the sandbox" action="Remove all" name="sandbox" busy={clear.isPending} error={clear.error} onConfirm={() => clear.mutate(undefined)}>
        What was caught is removed for everybody, but for messages with recipients still to be seen to. The history under Messages stays.
      </Confirm>
    </Page>
  )
}
