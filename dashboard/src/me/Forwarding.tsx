import { ForwardForm } from '../screens/mailboxes/ForwardForm'
import { Page, Section } from '../ui/Page'
import { type OwnMailbox, ownRequests } from './requests'

export default function Forwarding({ mailbox }: { mailbox: OwnMailbox }) {
  return (
    <Page title="Forwarding" lead="Sends new mail to other addresses too.">
      <Section title="Addresses" lead="Spam is not forwarded.">
        <ForwardForm mailbox={mailbox} requests={ownRequests} />
      </Section>
    </Page>
  )
}
