import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../api/client'
import { versionQuery } from '../api/queries'
import { LoadingLines } from '../ui/DataList'
import { CopyableCode } from '../ui/Copy'
import { EmptyState } from '../ui/Empty'
import { ErrorNote } from '../ui/ErrorNote'
import { SetupLink, useSetup } from '../screens/mailboxes/SetupLink'
import { Facts, Page, Section } from '../ui/Page'
import { OWNER_PATHS } from './paths'
import { ownRequests } from './requests'
import { OwnerLink } from './router'

type Service = Schema['MailServiceRecord']
type Protocol = Service['protocol']

const PROTOCOLS: readonly Protocol[] = ['imap', 'smtp', 'pop3', 'sieve']

const SERVICES: Readonly<Record<Protocol, { title: string; lead: string }>> = {
  imap: { title: 'Incoming mail: IMAP', lead: 'Recommended. Mail stays on the server, and all devices show the same.' },
  pop3: { title: 'Incoming mail: POP3', lead: 'Only if a program has no IMAP. It fetches mail to one device.' },
  smtp: { title: 'Outgoing mail: SMTP', lead: 'The program must sign in for sending too.' },
  sieve: { title: 'Filters: ManageSieve', lead: 'For programs that edit filters. This page edits the same ones.' },
}

const SECURITY = { tls: 'SSL/TLS', starttls: 'STARTTLS' } as const

/** What a mail program asks for. */
export default function Device() {
  const { data: version } = useQuery(versionQuery())
  const { data, error } = useSetup(ownRequests)
  return (
    <Page
      title="Set up a device"
      lead="Most programs find the settings by your address. Otherwise choose to enter them yourself, and copy these."
    >
      {version && version.profile !== 'full' ? (
        <div className="card">
          <EmptyState icon="phone" title="No mail programs in the embedded profile">
            This server has no IMAP and no submission. It is for trying things out.
          </EmptyState>
        </div>
      ) : error ? (
        <ErrorNote error={error} />
      ) : data ? (
        <>
          <Section title="Account">
            <Facts
              rows={[
                ['Email address', <CopyableCode value={data.address} what="email address" />],
                ['User name', <CopyableCode value={data.login} what="user name" />],
                ['Password', <PasswordAdvice isRequired={data.app_password_required} />],
              ]}
            />
          </Section>
          <SetupLink requests={ownRequests} setup={data} />
          {PROTOCOLS.map((protocol) => (
            <ProtocolSettings key={protocol} protocol={protocol} services={data.services.filter((each) => each.protocol === protocol)} />
          ))}
        </>
      ) : (
        <LoadingLines />
      )}
    </Page>
  )
}

function PasswordAdvice({ isRequired }: { isRequired: boolean }) {
  const link = <OwnerLink href={OWNER_PATHS.appPasswords}>app password</OwnerLink>
  return isRequired ? <>An {link}. Your own password is not accepted.</> : <>Create an {link} for each device, or use your own password.</>
}

/** The first service is the preferred one. */
function ProtocolSettings({ protocol, services }: { protocol: Protocol; services: readonly Service[] }) {
  const { title, lead } = SERVICES[protocol]
  const [first, ...others] = services
  if (!first) return null
  const name = protocol.toUpperCase()
  return (
    <Section title={title} lead={lead}>
      <Facts
        rows={[
          ['Server', <CopyableCode value={first.host} what={`server of ${name}`} />],
          ['Port', <CopyableCode value={String(first.port)} what={`port of ${name}`} />],
          ['Security', SECURITY[first.security]],
        ]}
      />
      {others.map((each) => (
        <p key={each.port} className="muted">
          If your program does not offer that: port <code>{each.port}</code> with {SECURITY[each.security]}.
        </p>
      ))}
    </Section>
  )
}
