import { SieveScripts } from '../screens/mailboxes/sieve/SieveTab'
import { Page } from '../ui/Page'
import { type OwnMailbox, ownRequests } from './requests'

export default function Filters({ mailbox }: { mailbox: OwnMailbox }) {
  return (
    <Page title="Filters" lead="Sort new mail into folders, forward it or reject it. Add filters from templates, or write Sieve.">
      <SieveScripts address={mailbox.address} requests={ownRequests} owner="Mail programs edit" />
    </Page>
  )
}
