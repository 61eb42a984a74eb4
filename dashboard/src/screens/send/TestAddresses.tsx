import { Button, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { versionQuery } from '../../api/queries'
import { Icon } from '../../ui/Icon'

/** Of the sandbox: what it does with mail for these local parts at any external domain. */
const TEST_ADDRESSES = [
  ['bounce', 'Refused permanently: 550, unknown user.'],
  ['defer', 'Deferred at the first attempt, delivered 2 seconds later.'],
  ['fail', 'Deferred, then failed: the delivery time expires after two attempts.'],
  ['complaint', 'Delivered, then reported as spam.'],
  ['suppressed', 'Left out as suppressed; refused if it is the only recipient.'],
] as const
const DOMAIN = 'sandbox.example'

/** A menu that adds a test address to the recipients. Absent where mail really leaves. */
export function TestAddresses({ onChoose }: { onChoose: (address: string) => void }) {
  const { data: version } = useQuery(versionQuery())
  if (!version?.sandbox) return null
  return (
    <Menu position="bottom-start" width={340}>
      <Menu.Target>
        <Button variant="subtle" size="compact-sm" leftSection={<Icon name="box" size={14} />}>
          Test addresses
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>The sandbox simulates what happens to their mail</Menu.Label>
        {TEST_ADDRESSES.map(([localPart, effect]) => (
          <Menu.Item key={localPart} onClick={() => onChoose(`${localPart}@${DOMAIN}`)}>
            <span className="strong">
              {localPart}@{DOMAIN}
            </span>
            <br />
            <span className="muted small">{effect}</span>
          </Menu.Item>
        ))}
        <Menu.Label>With a +tag (bounce+1@…), a bounce or complaint also suppresses the address</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  )
}
