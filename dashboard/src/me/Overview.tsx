import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { versionQuery } from '../api/queries'
import { formatNumber } from '../locale'
import { describeState } from '../screens/mailboxes/vacationValues'
import { Usage } from '../screens/mailboxes/Usage'
import { knownZone } from '../timeZone'
import { Badge } from '../ui/Badge'
import { Facts, Page, Section } from '../ui/Page'
import { RecentSignIns } from './RecentSignIns'
import { OWNER_PATHS } from './paths'
import { type OwnMailbox, ownRequests } from './requests'
import { OwnerLink } from './router'

/** Storage, what is active, and the last sign-ins. */
export function Overview({ mailbox }: { mailbox: OwnMailbox }) {
  return (
    <Page title="Overview" lead={mailbox.name || mailbox.address}>
      <Section title="Storage">
        <Facts
          rows={[
            ['Used', <Usage mailbox={mailbox} />],
            ['Messages', formatNumber(mailbox.message_count)],
          ]}
        />
      </Section>
      <Section title="What is active">
        <ul className="lines state-list">
          <VacationState mailbox={mailbox} />
          <State href={OWNER_PATHS.forwarding} label="Forwarding">
            {mailbox.forward.destinations.length > 0
              ? `To ${mailbox.forward.destinations.join(', ')}${mailbox.forward.keep_copy ? '' : ', without a copy here'}`
              : 'Off'}
          </State>
          <FilterState />
          <State href={OWNER_PATHS.security} label="Second factor at sign-in">
            {mailbox.totp_enabled || mailbox.passkeys > 0 ? <Badge tone="good">on</Badge> : <Badge tone="warn">off</Badge>}
          </State>
        </ul>
      </Section>
      <RecentSignIns limit={5} />
    </Page>
  )
}

function State({ href, label, children }: { href: string; label: string; children: ReactNode }) {
  return (
    <li>
      <OwnerLink href={href}>{label}</OwnerLink>
      <span>{children}</span>
    </li>
  )
}

function VacationState({ mailbox }: { mailbox: OwnMailbox }) {
  const { data: version } = useQuery(versionQuery())
  const { data } = useQuery({
    queryKey: ['vacation', ownRequests.id],
    queryFn: ownRequests.vacation.load,
    enabled: version?.profile === 'full',
  })
  return (
    <State href={OWNER_PATHS.vacation} label="Vacation replies">
      {data ? describeState(data, knownZone(mailbox.time_zone)) : version?.profile === 'full' ? '…' : 'Not available'}
    </State>
  )
}

function FilterState() {
  const { data: version } = useQuery(versionQuery())
  const { data } = useQuery({ queryKey: ['sieve', ownRequests.id], queryFn: ownRequests.sieve.list, enabled: version?.profile === 'full' })
  const active = data?.find((each) => each.active)
  return (
    <State href={OWNER_PATHS.filters} label="Filters">
      {data ? (active ? `On: ${active.name}` : 'Off') : version?.profile === 'full' ? '…' : 'Not available'}
    </State>
  )
}
