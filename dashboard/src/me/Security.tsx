import { useQuery } from '@tanstack/react-query'
import { useCredentials } from '../api/credentials'
import { Authenticator } from '../screens/account/Authenticator'
import { Passkeys, passkeysQuery } from '../screens/account/Passkeys'
import { Password } from '../screens/account/Password'
import { Sessions, sessionsQuery } from '../screens/account/Sessions'
import { LoadingLines } from '../ui/DataList'
import { Page } from '../ui/Page'
import { useReady } from '../ui/useReady'
import { RecentSignIns } from './RecentSignIns'
import type { OwnMailbox } from './requests'

export default function Security({ mailbox }: { mailbox: OwnMailbox }) {
  const credentials = useCredentials()
  // Rendered together, so that nothing moves when a section loads.
  const passkeys = useQuery(passkeysQuery(credentials))
  const sessions = useQuery(sessionsQuery(credentials))
  const isReady = useReady(!passkeys.isPending && !sessions.isPending)
  return (
    <Page
      title="Password and sign-in"
      lead="With a second factor, a stolen password alone opens nothing. Mail programs then need app passwords."
    >
      {!isReady ? (
        <LoadingLines count={8} />
      ) : (
        <>
          <Password />
          <Authenticator account={mailbox} />
          <Passkeys account={mailbox} />
          <Sessions />
          <RecentSignIns />
        </>
      )}
    </Page>
  )
}
