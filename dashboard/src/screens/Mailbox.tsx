import { Button, Modal, Switch, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { number } from '../locale'
import { PATHS } from '../paths'
import { Allowed, useAccount } from '../ui/Allowed'
import { bytes, plural } from '../ui/bytes'
import { Confirm } from '../ui/Confirm'
import { Copy } from '../ui/Copy'
import { Lines } from '../ui/DataList'
import { DomainName } from '../ui/Domains'
import { ErrorBar } from '../ui/ErrorBar'
import { ErrorNote } from '../ui/ErrorNote'
import { isMissing, Missing } from '../ui/Missing'
import { Form } from '../ui/Form'
import { useChange } from '../ui/form'
import { Icon } from '../ui/Icon'
import { LinkButton } from '../ui/links'
import { MailboxForm } from '../ui/MailboxForm'
import { Facts, Page, Section } from '../ui/Page'
import { Time } from '../ui/Time'
import { MailboxState, Usage } from './Mailboxes'

type Found = Schema['MailboxRecord']

const route = getRouteApi('/inside/mailboxes/$id')
const REFRESHES = ['mailboxes', 'domains', 'suspensions', 'routing']

export function Mailbox() {
  const { id } = route.useParams()
  const { data, error } = useQuery({
    queryKey: ['mailboxes', 'one', id],
    queryFn: () => ask(client.GET('/mailboxes/{id}', { params: { path: { id } } })),
  })
  const [isEditing, setEditing] = useState(false)
  const back = <Link to={PATHS.mailboxes}>← Mailboxes</Link>
  if (isMissing(error)) return <Missing title="No such mailbox" back={back} error={error} />
  if (!data)
    return (
      <Page title="Mailbox" back={back}>
        {error ? <ErrorNote error={error} /> : <Lines />}
      </Page>
    )
  return (
    <Page
      title={data.address}
      back={back}
      lead={
        <>
          <MailboxState mailbox={data} /> {data.name}
        </>
      }
      actions={
        <>
          <LinkButton to={PATHS.messages} search={{ q: data.address }} variant="default" leftSection={<Icon name="mail" size={16} />}>
            Its messages
          </LinkButton>
          <Allowed to="mailbox.write">
            <Button leftSection={<Icon name="edit" size={16} />} onClick={() => setEditing(true)}>
              Change
            </Button>
          </Allowed>
        </>
      }
    >
      {data.suspended && <Suspended mailbox={data} />}
      <Section title="Mailbox">
        <Facts
          rows={[
            ['Stored', <Usage mailbox={data} />],
            ['Messages', number(data.message_count)],
            ['Domain', <Link to={PATHS.domain} params={{ id: data.domain_id }}><DomainName id={data.domain_id} /></Link>],
            ['May be used by', protocols(data)],
            ['Last login', data.last_login.at ? <><Time at={data.last_login.at} form="ago" /> <span className="soft">by {data.last_login.protocol} from {data.last_login.ip}</span></> : 'never'],
            ['Forwards to', data.forward.destinations.length ? `${data.forward.destinations.join(', ')}${data.forward.keep_copy ? ', and keeps a copy' : ', keeps nothing'}` : 'nobody'],
            ['Made', <Time at={data.created_at} />],
            ['Id', <span className="copyable"><code>{data.id}</code><Copy text={data.id} what="id" /></span>],
          ]}
        />
      </Section>
      <Hazards mailbox={data} />
      <Modal opened={isEditing} onClose={() => setEditing(false)} title={`Change ${data.address}`} size="lg">
        <MailboxForm mailbox={data} onDone={() => setEditing(false)} onCancel={() => setEditing(false)} />
      </Modal>
    </Page>
  )
}

function protocols({ protocols: may }: Found): string {
  const names = Object.entries({ IMAP: may.imap, POP3: may.pop3, SMTP: may.smtp, ManageSieve: may.sieve }).filter(([, can]) => can)
  return names.map(([name]) => name).join(', ') || 'nothing'
}

function Suspended({ mailbox }: { mailbox: Found }) {
  const { role } = useAccount()
  const lift = useChange({
    change: () => ask(client.POST('/mailboxes/{id}/unsuspend', { params: { path: { id: mailbox.id } } })),
    refreshes: REFRESHES,
    told: `${mailbox.address} may send again.`,
  })
  const why = mailbox.suspended
  if (!why) return null
  return (
    <div className="note note-bad">
      <Icon name="pause" />
      <div>
        <p className="note-title">Sending is suspended: {why.reason || 'no reason was given'}</p>
        <p>
          By {why.by === 'rules' ? 'the abuse rules' : why.by}, <Time at={why.at} form="ago" />. Mail for it still arrives. Lifting it starts the count of recipients anew.
        </p>
        <ErrorBar error={lift.error} />
        <div>
          <Allowed to="mailbox.write" unless={why.by === 'rules' && role === 'domain_admin' ? 'The abuse rules set it: an administrator has to lift it.' : null}>
            <Button size="xs" loading={lift.isPending} onClick={() => lift.mutate(undefined)}>
              Lift the suspension
            </Button>
          </Allowed>
        </div>
      </div>
    </div>
  )
}

function Hazards({ mailbox }: { mailbox: Found }) {
  const [asked, setAsked] = useState<'suspend' | 'delete' | null>(null)
  return (
    <Section title="Danger zone">
      <div className="between">
        <p className="soft">Suspended, it can't send; mail for it still arrives.</p>
        <Allowed to="mailbox.write" unless={mailbox.suspended ? 'Sending is suspended already.' : null}>
          <Button variant="default" onClick={() => setAsked('suspend')}>
            Suspend sending
          </Button>
        </Allowed>
      </div>
      <div className="between">
        <p className="soft">Deleted, its address is free at once; its mail stays in the trash for 30 days.</p>
        <Allowed to="mailbox.write">
          <Button variant="light" color="red" onClick={() => setAsked('delete')}>
            Delete mailbox
          </Button>
        </Allowed>
      </div>
      <Modal opened={asked === 'suspend'} onClose={() => setAsked(null)} title={`Suspend sending from ${mailbox.address}`}>
        {asked === 'suspend' && <SuspendForm mailbox={mailbox} onDone={() => setAsked(null)} />}
      </Modal>
      <DeleteMailbox mailbox={mailbox} opened={asked === 'delete'} onClose={() => setAsked(null)} />
    </Section>
  )
}

function SuspendForm({ mailbox, onDone }: { mailbox: Found; onDone: () => void }) {
  const [reason, setReason] = useState('')
  const suspend = useChange({
    change: () => ask(client.POST('/mailboxes/{id}/suspend', { params: { path: { id: mailbox.id } }, body: { reason } })),
    refreshes: REFRESHES,
    told: `${mailbox.address} sends no more.`,
    then: onDone,
  })
  return (
    <Form
      onSubmit={() => suspend.mutate(undefined)}
      error={suspend.error}
      actions={
        <>
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" color="red" loading={suspend.isPending}>
            Suspend
          </Button>
        </>
      }
    >
      <TextInput label="Reason" description="Shown on the mailbox, and to who tries to send." data-autofocus value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
    </Form>
  )
}

function DeleteMailbox({ mailbox, opened, onClose }: { mailbox: Found; opened: boolean; onClose: () => void }) {
  const [isPurged, setPurged] = useState(false)
  const navigate = useNavigate()
  const remove = useChange({
    change: () => ask(client.DELETE('/mailboxes/{id}', { params: { path: { id: mailbox.id }, query: { purge: isPurged } } })),
    refreshes: REFRESHES,
    forgets: ['mailboxes', 'one', mailbox.id],
    told: (answer) => answer.message,
    then: () => void navigate({ to: PATHS.mailboxes }),
  })
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title={`Delete ${mailbox.address}`}
      action={isPurged ? 'Delete with all mail' : 'Delete'}
      name={isPurged ? mailbox.address : null}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
    >
      <div className="stack">
        <p>
          It takes no mail from now on. It holds {plural(mailbox.message_count, 'message')} ({bytes(mailbox.used_bytes)}).
        </p>
        <div className="either">
          <p className={isPurged ? undefined : 'kept'} aria-hidden={!isPurged}>
            They are destroyed at once, and nobody can bring them back.
          </p>
          <p className={isPurged ? 'kept' : undefined} aria-hidden={isPurged}>
            They are kept in the trash for 30 days, and can be restored with it.
          </p>
        </div>
        <Switch label="Destroy its mail at once" checked={isPurged} onChange={(event) => setPurged(event.currentTarget.checked)} />
      </div>
    </Confirm>
  )
}
