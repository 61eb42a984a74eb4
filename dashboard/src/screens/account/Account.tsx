import { useQuery } from '@tanstack/react-query'
import { ROLE_NAMES } from '../../access/policy'
import { useAccount } from '../../access/account'
import { useCredentials } from '../../api/credentials'
import { LoadingLines } from '../../ui/DataList'
import { Icon } from '../../ui/Icon'
import { Facts, Page, Section } from '../../ui/Page'
import { useReady } from '../../ui/useReady'
import { Time } from '../../ui/Time'
import { Authenticator } from './Authenticator'
import { providersQuery } from '../../api/queries'
import { IdentityProvider } from './IdentityProvider'
import { Passkeys, passkeysQuery } from './Passkeys'
import { Password } from './Password'
import { Sessions, sessionsQuery } from './Sessions'

export function Account() {
  const account = useAccount()
  const credentials = useCredentials()
  const isEnrolled = !account.second_factor_required
  // Rendered together, so that nothing moves when a section loads.
  const passkeys = useQuery(passkeysQuery(credentials))
  const providers = useQuery({ ...providersQuery(), enabled: isEnrolled })
  const sessions = useQuery({ ...sessionsQuery(credentials), enabled: isEnrolled })
  const isComplete = !passkeys.isPending && (!isEnrolled || !(providers.isPending || sessions.isPending))
  const isReady = useReady(isComplete)
  return (
    <Page title="Account" lead={account.email}>
      {account.second_factor_required && (
        <div className="note note-warn">
          <Icon name="shield" />
          <div>
            <p className="note-title">Your role requires two-factor authentication</p>
            <p>Set up an authenticator or a passkey below to use the dashboard.</p>
          </div>
        </div>
      )}
      <Section title="Account">
        <Facts
          rows={[
            ['Role', ROLE_NAMES[account.role]],
            ['Last sign-in', <Time at={account.last_login_at} form="ago" />],
            ['Created', <Time at={account.created_at} />],
          ]}
        />
      </Section>
      {!isReady ? (
        <LoadingLines count={8} />
      ) : (
        <>
          <Authenticator account={account} />
          <Passkeys account={account} />
          {isEnrolled && (
            <>
              <Password />
              <IdentityProvider account={account} />
              <Sessions />
            </>
          )}
        </>
      )}
    </Page>
  )
}
