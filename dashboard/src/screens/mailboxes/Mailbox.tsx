import { Button, Modal, Switch, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { mailboxRequests } from '../../api/mailboxRequests'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { useAccount } from '../../access/account'
import { DetailTabs } from '../../ui/DetailTabs'
import { formatBytes, pluralize } from '../../units'
import { ConfirmDelete } from '../../ui/Confirm'
import { CopyableCode } from '../../ui/Copy'
import { DetailPage, EditButton } from '../../ui/DetailPage'
import { LoadingLines } from '../../ui/DataList'
import { DomainName } from '../domains/DomainSelect'
import { ErrorBar } from '../../ui/ErrorBar'
import { Form } from '../../ui/Form'
import { useApiMutation } from '../../ui/useForm'
import { Icon } from '../../ui/Icon'
import { LinkButton } from '../../ui/links'
import { InviteDialog } from '../invitation/InviteForm'
import { Thresholds } from '../abuse/Thresholds'
import { AppPasswords } from './AppPasswords'
import { Folders } from './Folders'
import { MailboxForm } from './MailboxForm'
import { SetupLink, useSetup } from './SetupLink'
import { SignInBlockNote } from './SignInBlockNote'
import { VacationTab } from './VacationTab'
import { Facts, Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { MailboxState } from './Mailboxes'
import { Usage } from './Usage'

type MailboxRecord = Schema['MailboxRecord']

const SieveTab = lazy(() => import('./sieve/SieveTab').then(({ SieveTab: component }) => ({ default: component })))

const FilteringTab = lazy(() => import('../filtering/FilteringTab'))
const JunkTab = lazy(() => import('../filtering/JunkTab'))

const route = getRouteApi('/app/mailboxes/$id')
const INVALIDATES = ['mailboxes', 'domains', 'suspensions', 'routing']

export function Mailbox() {
  const { id } = route.useParams()
  const query = useQuery({
    queryKey: ['mailboxes', 'one', id],
    queryFn: () => fetchData(client.GET('/mailboxes/{id}', { params: { path: { id } } })),
  })
  const canEdit = useDenialReason('mailbox.write') === null
  const hasSieve = useDenialReason('sieve.read') === null
  return (
    <DetailPage
      kind="Mailbox"
      list={{ to: PATHS.mailboxes, label: 'Mailboxes' }}
      query={query}
      title={(data) => data.address}
      lead={(data) => (
        <>
          <MailboxState mailbox={data} /> {data.name}
        </>
      )}
      actions={(data) => (
        <>
          <LinkButton to={PATHS.messages} search={{ q: data.address }} variant="default" leftSection={<Icon name="mail" size={16} />}>
            View messages
          </LinkButton>
          <EditButton action="mailbox.write" />
        </>
      )}
    >
      {(data) => (
        <>
          {data.suspended && <SuspensionNote mailbox={data} />}
          <SignInBlockNote address={data.address} />
          <DetailTabs
            tabs={[
              {
                value: 'overview',
                label: 'Overview',
                content: (
                  <>
                    <Overview mailbox={data} />
                    <Setup mailbox={data} />
                    <Folders mailbox={data} />
                  </>
                ),
              },
              {
                value: 'app-passwords',
                label: 'App passwords',
                content: <AppPasswords mailbox={data} requests={mailboxRequests(data.id)} />,
              },
              { value: 'vacation', label: 'Vacation and forwarding', content: <VacationTab mailbox={data} /> },
              ...(hasSieve ? [{ value: 'sieve', label: 'Sieve', content: <LazySieve mailbox={data} /> }] : []),
              {
                value: 'filtering',
                label: 'Filtering',
                content: <Suspense fallback={<LoadingLines count={8} />}>{<FilteringTab mailbox={data.id} />}</Suspense>,
              },
              {
                value: 'junk',
                label: 'Junk',
                content: <Suspense fallback={<LoadingLines count={8} />}>{<JunkTab mailbox={data.id} />}</Suspense>,
              },
              ...(canEdit ? [{ value: 'settings', label: 'Settings', content: <Settings mailbox={data} /> }] : []),
            ]}
          />
        </>
      )}
    </DetailPage>
  )
}

function LazySieve({ mailbox }: { mailbox: MailboxRecord }) {
  return (
    <Suspense fallback={<LoadingLines />}>
      <SieveTab mailbox={mailbox} />
    </Suspense>
  )
}

function Overview({ mailbox: data }: { mailbox: MailboxRecord }) {
  return (
    <Section title="Mailbox">
      <Facts
        rows={[
          ['Storage', <Usage mailbox={data} />],
          ['Messages', formatNumber(data.message_count)],
          [
            'Domain',
            <Link to={PATHS.domain} params={{ id: data.domain_id }}>
              <DomainName id={data.domain_id} />
            </Link>,
          ],
          ['Allowed protocols', formatProtocols(data)],
          [
            'Last sign-in',
            data.last_login.at ? (
              <>
                <Time at={data.last_login.at} form="ago" />{' '}
                <span className="muted">
                  by {data.last_login.protocol} from {data.last_login.ip}
                </span>
              </>
            ) : (
              'never'
            ),
          ],
          [
            'Forwards to',
            data.forward.destinations.length
              ? `${data.forward.destinations.join(', ')}${data.forward.keep_copy ? ', keeps a copy' : ', keeps no copy'}`
              : 'none',
          ],
          ['May also send as', data.send_as.join(', ') || 'none'],
          ['Time zone', data.time_zone],
          ["Owner's page", <CopyableCode value={`${location.origin}/me`} what="address of the owner's page" />],
          ['Created', <Time at={data.created_at} />],
          ['ID', <CopyableCode value={data.id} what="ID" />],
        ]}
      />
    </Section>
  )
}

function Setup({ mailbox }: { mailbox: MailboxRecord }) {
  const requests = useMemo(() => mailboxRequests(mailbox.id), [mailbox.id])
  const { data } = useSetup(requests)
  return data && <SetupLink requests={requests} setup={data} />
}

function Settings({ mailbox }: { mailbox: MailboxRecord }) {
  return (
    <>
      <Section title="Settings">
        <MailboxForm mailbox={mailbox} />
      </Section>
      <Thresholds scope="mailbox" id={mailbox.id} />
      <Invite mailbox={mailbox} />
      <DangerZone mailbox={mailbox} />
    </>
  )
}

function Invite({ mailbox }: { mailbox: MailboxRecord }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Section title="Invitation">
      <div className="between">
        <p className="muted">A link with which the owner sets a new password, so that nobody else knows it.</p>
        <Allowed action="mailbox.write">
          <Button variant="default" onClick={() => setOpen(true)}>
            Invite the owner
          </Button>
        </Allowed>
      </div>
      <InviteDialog
        address={isOpen ? mailbox.address : null}
        onClose={() => setOpen(false)}
        request={({ invite_to }) =>
          fetchData(
            client.POST('/mailboxes/{id}/invite', { params: { path: { id: mailbox.id } }, body: { ...(invite_to && { invite_to }) } }),
          )
        }
      />
    </Section>
  )
}

function formatProtocols({ protocols }: MailboxRecord): string {
  const names = Object.entries({ IMAP: protocols.imap, POP3: protocols.pop3, SMTP: protocols.smtp, ManageSieve: protocols.sieve }).filter(
    ([, isAllowed]) => isAllowed,
  )
  return names.map(([name]) => name).join(', ') || 'none'
}

/** By whom suspensions are that a domain administrator, who sees the roles of others, can’t lift. */
const ABOVE_DOMAINS: readonly string[] = ['rules', 'admin', 'super_admin']

function SuspensionNote({ mailbox }: { mailbox: MailboxRecord }) {
  const { role } = useAccount()
  const lift = useApiMutation({
    request: () => fetchData(client.POST('/mailboxes/{id}/unsuspend', { params: { path: { id: mailbox.id } } })),
    invalidates: INVALIDATES,
    message: `${mailbox.address} can send again.`,
  })
  const { suspended } = mailbox
  if (!suspended) return null
  return (
    <div className="note note-bad">
      <Icon name="pause" />
      <div>
        <p className="note-title">Sending is suspended: {suspended.reason || 'no reason given'}</p>
        <p>
          By {suspended.by === 'rules' ? 'the abuse rules' : suspended.by}, <Time at={suspended.at} form="ago" />.{' '}
          {mailbox.active ? 'It still receives mail.' : 'It is inactive, so it receives no mail either.'} If an admin lifts the suspension,
          the counters of the abuse rules begin with nothing.
        </p>
        <ErrorBar error={lift.error} />
        <div>
          <Allowed
            action="mailbox.write"
            disabledReason={
              role === 'domain_admin' && ABOVE_DOMAINS.includes(suspended.by)
                ? 'Only an admin or super admin can lift this suspension.'
                : null
            }
          >
            <Button size="xs" loading={lift.isPending} onClick={() => lift.mutate(undefined)}>
              Lift suspension
            </Button>
          </Allowed>
        </div>
      </div>
    </div>
  )
}

function DangerZone({ mailbox }: { mailbox: MailboxRecord }) {
  const [dialog, setDialog] = useState<'suspend' | 'delete' | null>(null)
  return (
    <Section title="Danger zone">
      <div className="between">
        <p className="muted">A suspended mailbox can't send.{mailbox.active && ' It still receives mail.'}</p>
        <Allowed action="mailbox.write" disabledReason={mailbox.suspended ? 'Sending is already suspended.' : null}>
          <Button variant="default" onClick={() => setDialog('suspend')}>
            Suspend sending
          </Button>
        </Allowed>
      </div>
      <div className="between">
        <p className="muted">Somebody else may know a password: suspend, disable and hold in one step, which can be undone.</p>
        <Allowed action="incident.write">
          <LinkButton to={PATHS.incidents} search={{ new: 'yes', address: mailbox.address }} variant="default">
            New incident
          </LinkButton>
        </Allowed>
      </div>
      <div className="between">
        <p className="muted">Delete this mailbox. Its mail stays in the trash for 30 days.</p>
        <Allowed action="mailbox.write">
          <Button variant="light" color="red" onClick={() => setDialog('delete')}>
            Delete mailbox
          </Button>
        </Allowed>
      </div>
      <Modal opened={dialog === 'suspend'} onClose={() => setDialog(null)} title={`Suspend sending from ${mailbox.address}`}>
        {dialog === 'suspend' && <SuspendForm mailbox={mailbox} onDone={() => setDialog(null)} />}
      </Modal>
      <DeleteMailbox mailbox={mailbox} opened={dialog === 'delete'} onClose={() => setDialog(null)} />
    </Section>
  )
}

function SuspendForm({ mailbox, onDone }: { mailbox: MailboxRecord; onDone: () => void }) {
  const [reason, setReason] = useState('')
  const suspend = useApiMutation({
    request: () => fetchData(client.POST('/mailboxes/{id}/suspend', { params: { path: { id: mailbox.id } }, body: { reason } })),
    invalidates: INVALIDATES,
    message: `Suspended sending from ${mailbox.address}.`,
    onSuccess: onDone,
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
      <TextInput
        label="Reason"
        description="Shown on the mailbox and under Suspensions"
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </Form>
  )
}

function DeleteMailbox({ mailbox, ...dialog }: { mailbox: MailboxRecord; opened: boolean; onClose: () => void }) {
  const [isPermanent, setPermanent] = useState(false)
  const navigate = useNavigate()
  return (
    <ConfirmDelete
      {...dialog}
      title={`Delete ${mailbox.address}`}
      action={isPermanent ? 'Delete permanently' : 'Delete'}
      name={isPermanent ? mailbox.address : null}
      request={() => fetchData(client.DELETE('/mailboxes/{id}', { params: { path: { id: mailbox.id }, query: { purge: isPermanent } } }))}
      invalidates={INVALIDATES}
      removes={['mailboxes', 'one', mailbox.id]}
      message={(answer) => answer.message}
      onDeleted={() => void navigate({ to: PATHS.mailboxes })}
    >
      <div className="stack">
        <p>
          The mailbox rejects mail from now on. It contains {pluralize(mailbox.message_count, 'message')} ({formatBytes(mailbox.used_bytes)}
          ).
        </p>
        <div className="overlap">
          <p className={isPermanent ? undefined : 'invisible'} aria-hidden={!isPermanent}>
            Its mail is deleted permanently. This can't be undone.
          </p>
          <p className={isPermanent ? 'invisible' : undefined} aria-hidden={isPermanent}>
            Its mail stays in the trash for 30 days and can be restored.
          </p>
        </div>
        <Switch label="Delete its mail permanently" checked={isPermanent} onChange={(event) => setPermanent(event.currentTarget.checked)} />
      </div>
    </ConfirmDelete>
  )
}
