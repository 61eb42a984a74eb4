import type { Schema } from './client'
import type { Credentials, SignInAnswer } from './credentials'
import { ApiError } from './errors'

/** The browser rejected a passkey request or the user cancelled it. */
export class PasskeyError extends ApiError {
  constructor(cause: unknown) {
    const name = cause instanceof DOMException ? cause.name : ''
    super({ code: 'PASSKEY', message: MESSAGES[name] ?? 'The browser could not use the passkey. Try again.' })
  }
}

const MESSAGES: Readonly<Record<string, string>> = {
  NotAllowedError: 'No passkey was selected, or the request timed out. Try again.',
  InvalidStateError: 'This device already has a passkey for your account.',
  SecurityError: 'Passkeys do not work at this URL. Open the page at the URL of the setting http.public_url.',
  NotSupportedError: 'This device supports none of the key algorithms that Mailkeep accepts. Use another device.',
}

/** Whether the browser supports passkeys; it does not over plain HTTP. */
export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && navigator.credentials !== undefined
}

/** Signs in with a passkey, alone or as the second factor of the sign-in `totp_session`. */
export async function signInWithPasskey(credentials: Credentials, totp_session?: string): Promise<SignInAnswer> {
  const session = totp_session === undefined ? {} : { totp_session }
  const { options } = await credentials.passkeySignInOptions(session)
  const assertion = await requestCredential(() =>
    navigator.credentials.get({
      publicKey: { ...options, challenge: toBytes(options.challenge), allowCredentials: options.allowCredentials.map(toDescriptor) },
    }),
  )
  const response = assertion.response as AuthenticatorAssertionResponse
  const credential = {
    ...commonFields(assertion),
    response: {
      clientDataJSON: toBase64Url(response.clientDataJSON),
      authenticatorData: toBase64Url(response.authenticatorData),
      signature: toBase64Url(response.signature),
      ...(response.userHandle && { userHandle: toBase64Url(response.userHandle) }),
    },
  }
  return credentials.verifyPasskeySignIn({ credential, ...session })
}

/** Registers a passkey for the signed-in principal. */
export async function registerPasskey(
  credentials: Credentials,
  name: string,
  current_password: string,
): Promise<Schema['PasskeyRegistrationResponse']> {
  const { options } = await credentials.passkeyRegistrationOptions(current_password ? { current_password } : {})
  const credential = await requestCredential(() =>
    navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: toBytes(options.challenge),
        user: { ...options.user, id: toBytes(options.user.id) },
        excludeCredentials: options.excludeCredentials.map(toDescriptor),
      },
    }),
  )
  const attestation = credential.response as AuthenticatorAttestationResponse
  const response = {
    clientDataJSON: toBase64Url(attestation.clientDataJSON),
    attestationObject: toBase64Url(attestation.attestationObject),
    transports: attestation.getTransports(),
  }
  return credentials.verifyPasskeyRegistration({ name, credential: { ...commonFields(credential), response } })
}

async function requestCredential(request: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await request()
    if (credential instanceof PublicKeyCredential) return credential
  } catch (cause) {
    throw new PasskeyError(cause)
  }
  throw new PasskeyError(null)
}

function commonFields(credential: PublicKeyCredential) {
  return {
    id: credential.id,
    rawId: toBase64Url(credential.rawId),
    type: credential.type,
    clientExtensionResults: credential.getClientExtensionResults(),
  }
}

function toDescriptor(descriptor: Schema['CredentialDescriptor']): PublicKeyCredentialDescriptor {
  return { type: descriptor.type, id: toBytes(descriptor.id), transports: descriptor.transports as AuthenticatorTransport[] }
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
}

function toBase64Url(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
