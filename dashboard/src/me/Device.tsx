import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../api/client'
import { LoadingLines } from '../ui/DataList'
import { CopyableCode } from '../ui/Copy'
import { ErrorNote } from '../ui/ErrorNote'
import { Facts, Page, Section } from '../ui/Page'
import { OWNER_PATHS } from './paths'
import { setupQuery, type OwnMailbox } from './requests'
import { OwnerLink } from './router'

type Service = Schema['MailServiceRecord']

const SERVICES: Readonly<Record<string, { title: string; lead: string }>> = {
  imap: { title: 'Incoming mail: IMAP', lead: 'Recommended. Mail stays on the server, and all devices show the same.' },
  pop3: { title: 'Incoming mail: POP3', lead: 'Only if a program has no IMAP. It fetches mail to one device.' },
  smtp: { title: 'Outgoing mail: SMTP', lead: 'The program must sign in for sending too.' },
  sieve: { title: 'Filters: ManageSieve', lead: 'For programs that edit filters. This page edits the same ones.' },
}

const SECURITY: Readonly<Record<string, string>> = { tls: 'SSL/TLS', starttls: 'STARTTLS', none: 'None' }

/** What a mail program asks for. */
export default function Device({ mailbox }: { mailbox: OwnMailbox }) {
  const { data, error } = useQuery(setupQuery())
  return (
    <Page title="Set up a device" lead="Add an account in your mail program, choose to enter the settings yourself, and copy these.">
      <Section title="You sign in with">
        <Facts
          rows={[
            ['User name', <CopyableCode value={mailbox.address} what="user name" />],
            ['Password', <PasswordAdvice mailbox={mailbox} />],
          ]}
        />
      </Section>
      {error ? (
        <ErrorNote error={error} />
      ) : data ? (
        data.services.map((each) => <ServiceSettings key={each.protocol + each.port} service={each} />)
      ) : (
        <LoadingLines />
      )}
    </Page>
  )
}

function PasswordAdvice({ mailbox }: { mailbox: OwnMailbox }) {
  const link = <OwnerLink href={OWNER_PATHS.appPasswords}>app password</OwnerLink>
  return mailbox.app_passwords_required ? (
    <>An {link}: your own password is not accepted.</>
  ) : (
    <>Better an {link} for each device than your own password.</>
  )
}

function ServiceSettings({ service }: { service: Service }) {
  const { title, lead } = SERVICES[service.protocol] ?? { title: service.protocol, lead: '' }
  return (
    <Section title={title} lead={lead}>
      <Facts
        rows={[
          ['Server', <CopyableCode value={service.host} what={`server of ${service.protocol.toUpperCase()}`} />],
          ['Port', <CopyableCode value={String(service.port)} what={`port of ${service.protocol.toUpperCase()}`} />],
          ['Security', SECURITY[service.security] ?? service.security],
        ]}
      />
    </Section>
  )
}
