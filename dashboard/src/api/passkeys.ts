import { ask, client, type Schema } from './client'
import { ApiError } from './errors'

/** What a browser without passkeys, or a person who closed its question, comes to. */
export class PasskeyEnded extends ApiError {
  constructor(cause: unknown) {
    const name = cause instanceof DOMException ? cause.name : ''
    super({ code: 'PASSKEY', message: WORDS[name] ?? 'The browser could not use a passkey.' })
  }
}

const WORDS: Readonly<Record<string, string>> = {
  NotAllowedError: 'No passkey was chosen, or the time was up.',
  InvalidStateError: 'This authenticator already holds a passkey of your account.',
  SecurityError: 'Passkeys do not work at this address: open the dashboard at its public address.',
  NotSupportedError: 'This authenticator has none of the kinds of key that are taken.',
}

/** Whether the browser has passkeys at all; it hides them on plain http. */
export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && navigator.credentials !== undefined
}

/** Log in with a passkey: alone, or as the second factor of the login that `totp_session` names. */
export async function logInByPasskey(totp_session?: string): Promise<Schema['LoginResponse'] | Schema['SecondFactorResponse']> {
  const which = totp_session === undefined ? {} : { totp_session }
  const { options } = await ask(client.POST('/auth/passkeys/login/options', { body: which }))
  const found = await asked(() =>
    navigator.credentials.get({
      publicKey: { ...options, challenge: toBytes(options.challenge), allowCredentials: options.allowCredentials.map(descriptor) },
    }),
  )
  const answer = found.response as AuthenticatorAssertionResponse
  const credential = {
    ...outer(found),
    response: {
      clientDataJSON: toText(answer.clientDataJSON),
      authenticatorData: toText(answer.authenticatorData),
      signature: toText(answer.signature),
      ...(answer.userHandle && { userHandle: toText(answer.userHandle) }),
    },
  }
  return ask(client.POST('/auth/passkeys/login/verify', { body: { credential, ...which } }))
}

/** Make a passkey for the account that is logged in. */
export async function registerPasskey(name: string, current_password: string): Promise<Schema['PasskeyRegistrationResponse']> {
  const { options } = await ask(client.POST('/auth/passkeys/register/options', { body: current_password ? { current_password } : {} }))
  const made = await asked(() =>
    navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: toBytes(options.challenge),
        user: { ...options.user, id: toBytes(options.user.id) },
        excludeCredentials: options.excludeCredentials.map(descriptor),
      },
    }),
  )
  const answer = made.response as AuthenticatorAttestationResponse
  const response = {
    clientDataJSON: toText(answer.clientDataJSON),
    attestationObject: toText(answer.attestationObject),
    transports: answer.getTransports(),
  }
  return ask(client.POST('/auth/passkeys/register/verify', { body: { name, credential: { ...outer(made), response } } }))
}

async function asked(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const found = await ask()
    if (found instanceof PublicKeyCredential) return found
  } catch (cause) {
    throw new PasskeyEnded(cause)
  }
  throw new PasskeyEnded(null)
}

function outer(credential: PublicKeyCredential) {
  return { id: credential.id, rawId: toText(credential.rawId), type: credential.type, clientExtensionResults: credential.getClientExtensionResults() }
}

function descriptor(given: Schema['CredentialDescriptor']): PublicKeyCredentialDescriptor {
  return { type: given.type, id: toBytes(given.id), transports: given.transports as AuthenticatorTransport[] }
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
}

function toText(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
