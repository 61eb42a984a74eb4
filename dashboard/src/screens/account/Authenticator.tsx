import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { ask, client, type Schema } from '../../api/client'
import { Allowed } from '../../ui/Allowed'
import { Badge } from '../../ui/Badge'
import { Lines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { Form } from '../../ui/Form'
import { useChange } from '../../ui/form'
import { Icon } from '../../ui/Icon'
import { Section } from '../../ui/Page'
import { Secret } from '../../ui/Secret'
import { RecoveryCodes } from './RecoveryCodes'

const Qr = lazy(() => import('../../ui/Qr').then(({ Qr }) => ({ default: Qr })))

export function Authenticator({ account }: { account: Schema['OwnAccount'] }) {
  const [asked, setAsked] = useState<'enrol' | 'renew' | 'disable' | null>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const close = () => setAsked(null)
  return (
    <Section
      title="Authenticator"
      lead="An app on your phone that shows a new code every 30 seconds, asked for after the password."
      actions={account.totp_enabled ? <Badge tone="good">in use</Badge> : <Badge tone="warn">not set up</Badge>}
    >
      <Group>
        {account.totp_enabled ? (
          <>
            <Allowed to="factor.change">
              <Button variant="default" onClick={() => setAsked('renew')}>
                New recovery codes
              </Button>
            </Allowed>
            <Allowed to="factor.change">
              <Button variant="light" color="red" onClick={() => setAsked('disable')}>
                Turn off
              </Button>
            </Allowed>
          </>
        ) : (
          <Button leftSection={<Icon name="phone" size={16} />} onClick={() => setAsked('enrol')}>
            Set up an authenticator
          </Button>
        )}
      </Group>
      <Modal opened={asked === 'enrol'} onClose={close} title="Set up an authenticator">
        {asked === 'enrol' && (
          <Enrol
            onDone={(made) => {
              setCodes(made)
              close()
            }}
          />
        )}
      </Modal>
      <Modal opened={asked === 'renew'} onClose={close} title="New recovery codes">
        {asked === 'renew' && (
          <Renew
            onDone={(made) => {
              setCodes(made)
              close()
            }}
          />
        )}
      </Modal>
      <Modal opened={asked === 'disable'} onClose={close} title="Turn the authenticator off">
        {asked === 'disable' && <Disable onDone={close} />}
      </Modal>
      <RecoveryCodes codes={codes} onDone={() => setCodes(null)} />
    </Section>
  )
}

function Enrol({ onDone }: { onDone: (codes: readonly string[]) => void }) {
  const [code, setCode] = useState('')
  // A new secret each time: one that was shown and left is worth nothing.
  const setup = useQuery({ queryKey: ['totp-setup'], queryFn: () => ask(client.POST('/auth/totp/setup')), staleTime: Infinity, gcTime: 0, retry: false })
  const verify = useChange({
    change: () => ask(client.POST('/auth/totp/verify', { body: { code: code.replace(/\s/g, '') } })),
    refreshes: ['me'],
    told: 'Your authenticator is in use.',
    then: (answer) => onDone(answer.recovery_codes),
  })
  if (setup.error) return <ErrorNote error={setup.error} />
  if (!setup.data) return <Lines />
  const secret = new URL(setup.data.provisioning_uri).searchParams.get('secret') ?? ''
  return (
    <Form
      onSubmit={() => verify.mutate(undefined)}
      error={verify.error}
      actions={
        <Button type="submit" loading={verify.isPending}>
          Confirm
        </Button>
      }
    >
      <p>Scan this with an authenticator app, then type the code that it shows.</p>
      <Suspense fallback={<div className="qr" />}>
        <Qr text={setup.data.provisioning_uri} label="QR code of the secret for your authenticator" />
      </Suspense>
      <Secret label="Or type this secret into the app" value={secret} />
      <TextInput label="Code" inputMode="numeric" autoComplete="one-time-code" data-autofocus value={code} onChange={(event) => setCode(event.currentTarget.value)} />
    </Form>
  )
}

function Renew({ onDone }: { onDone: (codes: readonly string[]) => void }) {
  const [code, setCode] = useState('')
  const renew = useChange({
    change: () => ask(client.POST('/auth/totp/recovery-codes', { body: { code: code.replace(/\s/g, '') } })),
    refreshes: ['me'],
    then: (answer) => onDone(answer.recovery_codes),
  })
  return (
    <Form
      onSubmit={() => renew.mutate(undefined)}
      error={renew.error}
      actions={
        <Button type="submit" loading={renew.isPending}>
          Make new ones
        </Button>
      }
    >
      <p>The codes that you had stop working.</p>
      <TextInput label="Code of your authenticator" inputMode="numeric" autoComplete="one-time-code" data-autofocus value={code} onChange={(event) => setCode(event.currentTarget.value)} />
    </Form>
  )
}

function Disable({ onDone }: { onDone: () => void }) {
  const [code, setCode] = useState('')
  const disable = useChange({
    change: () => {
      const plain = code.replace(/\s/g, '')
      return ask(client.DELETE('/auth/totp', { body: /^[0-9]{6}$/.test(plain) ? { code: plain } : { recovery_code: plain } }))
    },
    refreshes: ['me'],
    told: 'Your authenticator is turned off.',
    then: onDone,
  })
  return (
    <Form
      onSubmit={() => disable.mutate(undefined)}
      error={disable.error}
      actions={
        <Button type="submit" color="red" loading={disable.isPending}>
          Turn off
        </Button>
      }
    >
      <p>From then on the password alone lets you in, and your recovery codes are void.</p>
      <TextInput label="Code" description="Of your authenticator, or a recovery code" autoComplete="one-time-code" data-autofocus value={code} onChange={(event) => setCode(event.currentTarget.value)} />
    </Form>
  )
}
