import { VacationSection } from '../screens/mailboxes/VacationTab'
import { Page } from '../ui/Page'
import { type OwnMailbox, ownRequests } from './requests'

export default function Vacation({ mailbox }: { mailbox: OwnMailbox }) {
  return (
    <Page title="Vacation" lead="Answers people who write to you while you are away.">
      <VacationSection mailbox={mailbox} requests={ownRequests} title="Replies" />
    </Page>
  )
}
