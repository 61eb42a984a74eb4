import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Allowed } from '../../access/Allowed'
import type { Schema } from '../../api/client'
import type { MailboxRequests } from '../../api/mailboxRequests'
import { versionQuery } from '../../api/queries'
import { Warning } from '../../layout/SignInPage'
import { CopyableCode } from '../../ui/Copy'
import { ErrorBar } from '../../ui/ErrorBar'
import { Facts, Section } from '../../ui/Page'
import { QrCode } from '../../ui/Qr'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'

const INVALIDATES = ['setup']

/** The settings for mail programs and the setup link; only the full profile has services for them. */
export function useSetup(requests: MailboxRequests) {
  const { data: version } = useQuery(versionQuery())
  return useQuery({ queryKey: ['setup', requests.id], queryFn: requests.setup.load, enabled: version?.profile === 'full' })
}

/** The link to a page from which a device is set up, and the profile for Apple's devices. */
export function SetupLink({ requests, setup }: { requests: MailboxRequests; setup: Schema['ClientSetupResponse'] }) {
  const create = useApiMutation({ request: requests.setup.createLink, invalidates: INVALIDATES, message: 'Created a setup link.' })
  const remove = useApiMutation({
    request: requests.setup.deleteLink,
    invalidates: INVALIDATES,
    message: 'The setup link does not work any more.',
  })
  const hasProfile = ['imap', 'pop3'].some((name) => offers(setup, name)) && offers(setup, 'smtp')
  const { link } = setup
  return (
    <Section
      title="Setup link"
      lead="A page with the settings for another device, without signing in. It contains no password."
      actions={
        <>
          {hasProfile && (
            <Button component="a" href={requests.setup.profile} download="mail.mobileconfig" variant="default">
              Profile for iPhone, iPad, Mac
            </Button>
          )}
          {link && (
            <Allowed action="mailbox.write">
              <Button variant="light" color="red" loading={remove.isPending} onClick={() => remove.mutate(undefined)}>
                Delete link
              </Button>
            </Allowed>
          )}
          <Allowed action="mailbox.write">
            <Button loading={create.isPending} onClick={() => create.mutate(undefined)}>
              {link ? 'Replace link' : 'Create link'}
            </Button>
          </Allowed>
        </>
      }
    >
      <ErrorBar error={create.error ?? remove.error} />
      {link ? (
        <>
          {isLocal(link.url) && (
            <Warning>
              Other devices can’t open this link: it leads to this machine only. An administrator has to set <code>http.public_url</code> in
              mailkeep.toml to the address of the dashboard, and to restart Mailkeep.
            </Warning>
          )}
          <div className="between">
            <Facts
              rows={[
                ['Link', <CopyableCode value={link.url} what="setup link" />],
                ['Expires', <Time at={link.expires_at} form="ago" />],
              ]}
            />
            <QrCode text={link.url} label="QR code of the setup link" />
          </div>
        </>
      ) : (
        <p className="muted">There is no link. One works for 7 days, and can be shown as a QR code for a phone.</p>
      )}
    </Section>
  )
}

function isLocal(url: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)
}

function offers(setup: Schema['ClientSetupResponse'], protocol: string): boolean {
  return setup.services.some((each) => each.protocol === protocol)
}
