import { AppPasswords } from '../screens/mailboxes/AppPasswords'
import { Page } from '../ui/Page'
import { type OwnMailbox, ownRequests } from './requests'

export default function OwnAppPasswords({ mailbox }: { mailbox: OwnMailbox }) {
  return (
    <Page title="App passwords" lead="If you lose a device, delete its password: all others keep working.">
      <AppPasswords mailbox={mailbox} requests={ownRequests} title="Devices and programs" />
    </Page>
  )
}
