import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useRef, useState } from 'react'
import { type Confirmation, useCredentials } from '../../api/credentials'
import { Allowed } from '../../access/Allowed'
import { Badge } from '../../ui/Badge'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { Form } from '../../ui/Form'
import { useApiMutation } from '../../ui/useForm'
import { Icon } from '../../ui/Icon'
import { Section } from '../../ui/Page'
import { RecentSignIn, useRecentSignIn } from '../../ui/RecentSignIn'
import { Secret } from '../../ui/Secret'
import { RecoveryCodes, RenewCodesForm } from './RecoveryCodes'

const QrCode = lazy(() => import('../../ui/Qr').then((module) => ({ default: module.QrCode })))

export function Authenticator({ account }: { account: { totp_enabled: boolean; passkeys: number } }) {
  const [dialog, setDialog] = useState<'set-up' | 'renew' | 'disable' | null>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const close = () => setDialog(null)
  const showCodes = (created: readonly string[] | null) => {
    setCodes(created)
    close()
  }
  return (
    <Section
      title="Authenticator"
      lead="An app on your phone that shows a new code every 30 seconds, required after the password."
      actions={account.totp_enabled ? <Badge tone="good">on</Badge> : <Badge tone="warn">off</Badge>}
    >
      <Group>
        {account.totp_enabled ? (
          <>
            <Allowed action="factor.change">
              <Button variant="default" onClick={() => setDialog('renew')}>
                New recovery codes
              </Button>
            </Allowed>
            <Allowed action="factor.change">
              <Button variant="light" color="red" onClick={() => setDialog('disable')}>
                Turn off
              </Button>
            </Allowed>
          </>
        ) : (
          <Button leftSection={<Icon name="phone" size={16} />} onClick={() => setDialog('set-up')}>
            Set up an authenticator
          </Button>
        )}
      </Group>
      <Modal opened={dialog === 'set-up'} onClose={close} title="Set up an authenticator">
        {dialog === 'set-up' && <SetUpForm onDone={showCodes} />}
      </Modal>
      <Modal opened={dialog === 'renew'} onClose={close} title="New recovery codes">
        {dialog === 'renew' && <RenewCodes onDone={showCodes} />}
      </Modal>
      <Modal opened={dialog === 'disable'} onClose={close} title="Turn off authenticator">
        {dialog === 'disable' && <TurnOffForm hasPasskey={account.passkeys > 0} onDone={close} />}
      </Modal>
      <RecoveryCodes codes={codes} onDone={() => setCodes(null)} />
    </Section>
  )
}

function SetUpForm({ onDone }: { onDone: (codes: readonly string[]) => void }) {
  const [code, setCode] = useState('')
  const credentials = useCredentials()
  const confirmation = useRef<Confirmation>({})
  // Each setup creates a new secret; an unconfirmed one is void.
  const setup = useQuery({
    queryKey: ['totp-setup'],
    queryFn: () => credentials.setUpTotp(confirmation.current),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  })
  const verify = useApiMutation({
    request: () => credentials.verifyTotp(code.replace(/\s/g, '')),
    invalidates: ['me'],
    message: 'Authenticator turned on.',
    onSuccess: (answer) => onDone(answer.recovery_codes),
  })
  const signIn = useRecentSignIn(setup.error)
  if (signIn.isNeeded && !setup.data)
    return (
      <Form
        onSubmit={() => {
          confirmation.current = signIn.body
          void setup.refetch()
        }}
        error={signIn.otherError}
        actions={
          <Button type="submit" loading={setup.isFetching}>
            Continue
          </Button>
        }
      >
        <RecentSignIn {...signIn.promptProps} consequence="Sign in again, then set it up." />
      </Form>
    )
  if (setup.error) return <ErrorNote error={setup.error} />
  if (!setup.data) return <LoadingLines />
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
      <p>Scan this code with an authenticator app, then enter the code that the app shows.</p>
      <Suspense fallback={<div className="qr" />}>
        <QrCode text={setup.data.provisioning_uri} label="QR code of the authenticator secret" />
      </Suspense>
      <Secret label="Or enter this secret in the app" value={secret} />
      <CodeInput label="Code" value={code} onChange={setCode} />
    </Form>
  )
}

function RenewCodes({ onDone }: { onDone: (codes: readonly string[]) => void }) {
  const credentials = useCredentials()
  const [code, setCode] = useState('')
  return (
    <RenewCodesForm
      request={() => credentials.renewTotpRecoveryCodes(code.replace(/\s/g, ''))}
      invalidates={['me']}
      warning="Your current recovery codes stop working."
      onDone={onDone}
    >
      {() => <CodeInput label="Authenticator code" value={code} onChange={setCode} />}
    </RenewCodesForm>
  )
}

function TurnOffForm({ hasPasskey, onDone }: { hasPasskey: boolean; onDone: () => void }) {
  const [code, setCode] = useState('')
  const credentials = useCredentials()
  const disable = useApiMutation({
    request: () => {
      const typed = code.replace(/\s/g, '')
      return credentials.disableTotp(/^[0-9]{6}$/.test(typed) ? { code: typed } : { recovery_code: typed })
    },
    invalidates: ['me'],
    message: 'Authenticator turned off.',
    onSuccess: onDone,
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
      <p>
        {hasPasskey
          ? 'After your password, you confirm with a passkey. Your recovery codes stay valid.'
          : 'You sign in with the password alone, and your recovery codes stop working.'}
      </p>
      <TextInput
        label="Code"
        description="From your authenticator, or a recovery code"
        autoComplete="one-time-code"
        data-autofocus
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
    </Form>
  )
}

function CodeInput({ label, value, onChange }: { label: string; value: string; onChange: (code: string) => void }) {
  return (
    <TextInput
      label={label}
      inputMode="numeric"
      autoComplete="one-time-code"
      data-autofocus
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
