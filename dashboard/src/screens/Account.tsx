import { ROLE_NAMES } from '../policy'
import { useAccount } from '../ui/Allowed'
import { Icon } from '../ui/Icon'
import { Facts, Page, Section } from '../ui/Page'
import { Time } from '../ui/Time'
import { Authenticator } from './account/Authenticator'
import { Identity } from './account/Identity'
import { Passkeys } from './account/Passkeys'
import { Password } from './account/Password'
import { Sessions } from './account/Sessions'

export function Account() {
  const account = useAccount()
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
            ['Made', <Time at={account.created_at} />],
          ]}
        />
      </Section>
      <Authenticator account={account} />
      <Passkeys account={account} />
      {!account.second_factor_required && (
        <>
          <Password />
          <Identity account={account} />
          <Sessions />
        </>
      )}
    </Page>
  )
}
