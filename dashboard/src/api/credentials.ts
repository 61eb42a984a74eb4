import { createContext, useContext } from 'react'
import { client, fetchData, type Schema } from './client'

export type Pending = Pick<Schema['SecondFactorResponse'], 'totp_session' | 'methods'>
/** A session was opened, or the second factor is required. */
export type SignInAnswer = Schema['SecondFactorResponse'] | { expires_at: string }
/** The second step of a sign-in. */
export type SecondStep = { totp_session: string } & ({ totp_code: string } | { recovery_code: string })
/** The current password, where the API requires it. */
export type Confirmation = { current_password?: string }
/** A code of the authenticator, or a recovery code. */
export type OneTimeCode = { code: string } | { recovery_code: string }

/**
 * The requests about a principal's own credentials: an administrator's (`/auth`), or those of a mailbox's owner (`/me`).
 */
export interface Credentials {
  signInWithCode: (body: SecondStep) => Promise<SignInAnswer>
  passkeySignInOptions: (session: { totp_session?: string }) => Promise<Pick<Schema['LoginOptionsResponse'], 'options'>>
  verifyPasskeySignIn: (body: Schema['PasskeyLogin']) => Promise<SignInAnswer>
  signOut: () => Promise<unknown>
  signOutEverywhere: () => Promise<unknown>
  changePassword: (body: Schema['PasswordChange']) => Promise<{ sessions_ended: number }>
  setUpTotp: (body: Confirmation) => Promise<Schema['TotpSetupResponse']>
  verifyTotp: (code: string) => Promise<{ recovery_codes: string[] }>
  disableTotp: (body: OneTimeCode) => Promise<unknown>
  renewTotpRecoveryCodes: (code: string) => Promise<{ recovery_codes: string[] }>
  listPasskeys: () => Promise<Schema['PasskeyRecord'][]>
  passkeyRegistrationOptions: (body: Confirmation) => Promise<Pick<Schema['RegistrationOptionsResponse'], 'options'>>
  verifyPasskeyRegistration: (body: Schema['PasskeyRegistration']) => Promise<Schema['PasskeyRegistrationResponse']>
  renamePasskey: (id: string, name: string) => Promise<unknown>
  deletePasskey: (id: string, body: Confirmation) => Promise<{ message: string }>
  renewPasskeyRecoveryCodes: (body: Confirmation) => Promise<{ recovery_codes: string[] }>
  listSessions: () => Promise<Schema['SessionRecord'][]>
  endSession: (id: string) => Promise<unknown>
}

export const CredentialsContext = createContext<Credentials | null>(null)

export function useCredentials(): Credentials {
  const credentials = useContext(CredentialsContext)
  if (!credentials) throw new Error('No CredentialsContext.')
  return credentials
}

/** Those of the signed-in administrator. */
export const accountCredentials: Credentials = {
  signInWithCode: (body) => fetchData(client.POST('/auth/login', { body })),
  passkeySignInOptions: (body) => fetchData(client.POST('/auth/passkeys/login/options', { body })),
  verifyPasskeySignIn: (body) => fetchData(client.POST('/auth/passkeys/login/verify', { body })),
  signOut: () => fetchData(client.POST('/auth/logout')),
  signOutEverywhere: () => fetchData(client.POST('/auth/logout-all')),
  changePassword: (body) => fetchData(client.POST('/auth/password', { body })),
  setUpTotp: () => fetchData(client.POST('/auth/totp/setup')),
  verifyTotp: (code) => fetchData(client.POST('/auth/totp/verify', { body: { code } })),
  disableTotp: (body) => fetchData(client.DELETE('/auth/totp', { body })),
  renewTotpRecoveryCodes: (code) => fetchData(client.POST('/auth/totp/recovery-codes', { body: { code } })),
  listPasskeys: () => fetchData(client.GET('/auth/passkeys')),
  passkeyRegistrationOptions: (body) => fetchData(client.POST('/auth/passkeys/register/options', { body })),
  verifyPasskeyRegistration: (body) => fetchData(client.POST('/auth/passkeys/register/verify', { body })),
  renamePasskey: (id, name) => fetchData(client.PATCH('/auth/passkeys/{id}', { params: { path: { id } }, body: { name } })),
  deletePasskey: (id, body) => fetchData(client.DELETE('/auth/passkeys/{id}', { params: { path: { id } }, body })),
  renewPasskeyRecoveryCodes: (body) => fetchData(client.POST('/auth/passkeys/recovery-codes', { body })),
  listSessions: () => fetchData(client.GET('/auth/sessions')),
  endSession: (id) => fetchData(client.DELETE('/auth/sessions/{id}', { params: { path: { id } } })),
}
