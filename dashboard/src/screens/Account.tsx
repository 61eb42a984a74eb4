import { useQuery } from '@tanstack/react-query'
import { ROLE_NAMES } from '../policy'
import { useAccount } from '../ui/Allowed'
import { Lines } from '../ui/DataList'
import { Icon } from '../ui/Icon'
import { Facts, Page, Section } from '../ui/Page'
import { useReady } from '../ui/ready'
import { Time } from '../ui/Time'
import { Authenticator } from './account/Authenticator'
import { Identity, providersQuery } from './account/Identity'
import { Passkeys, passkeysQuery } from './account/Passkeys'
import { Password } from './account/Password'
import { Sessions, sessionsQuery } from './account/Sessions'

export function Account() {
  const account = useAccount()
  const isWhole = !account.second_factor_required
  // All at once: what is below a section must not move when it is filled.
  const passkeys = useQuery(passkeysQuery())
  const providers = useQuery({ ...providersQuery(), enabled: isWhole })
  const sessions = useQuery({ ...sessionsQuery(), enabled: isWhole })
  const isComplete = !passkeys.isPending && (!isWhole || !(providers.isPending || sessions.isPending))
  const isReady = useReady(isComplete)
  return (
    <Page title="Your account" lead={account.email}>
      {account.second_factor_required && (
        <div className="note note-warn">
          <Icon name="shield" />
          <div>
            <p className="note-title">Your role needs a second factor</p>
            <p>Until you have set up an authenticator or a passkey below, nothing else is open to you.</p>
          </div>
        </div>
      )}
      <Section title="Account">
        <Facts
          rows={[
            ['Role', ROLE_NAMES[account.role]],
            ['Last login', <Time at={account.last_login_at} form="ago" />],
            ['Created', <Time at={account.created_at} />],
          ]}
        />
      </Section>
      {!isReady ? (
        <Lines count={8} />
      ) : (
        <>
          <Authenticator account={account} />
          <Passkeys account={account} />
          {isWhole && (
            <>
              <Password />
              <Identity account={account} />
              <Sessions />
            </>
          )}
        </>
      )}
    </Page>
  )
}
