import { useQuery } from '@tanstack/react-query'
import { ForwardForm } from '../screens/mailboxes/ForwardForm'
import { LoadingLines } from '../ui/DataList'
import { ErrorNote } from '../ui/ErrorNote'
import { Page, Section } from '../ui/Page'
import { type OwnMailbox, ownRequests } from './requests'

export default function Forwarding({ mailbox }: { mailbox: OwnMailbox }) {
  // Loaded by its own path, whose version a change names.
  const { data, error } = useQuery({ queryKey: ['forward'], queryFn: ownRequests.forward.load })
  return (
    <Page title="Forwarding" lead="Sends new mail to other addresses too.">
      <Section title="Addresses" lead="Spam is not forwarded.">
        {error ? (
          <ErrorNote error={error} />
        ) : data ? (
          <ForwardForm mailbox={{ address: mailbox.address, forward: data }} requests={ownRequests} />
        ) : (
          <LoadingLines />
        )}
      </Section>
    </Page>
  )
}
