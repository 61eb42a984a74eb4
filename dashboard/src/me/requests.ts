import { queryOptions } from '@tanstack/react-query'
import { client, fetchData, type Schema } from '../api/client'
import type { Credentials } from '../api/credentials'
import type { MailboxRequests, SetupResult } from '../api/mailboxRequests'

/** The requests of a mailbox's owner: the paths below `/me`, with the cookie `svc_mailbox`. */

export type OwnMailbox = Schema['OwnMailboxRecord']

export function ownMailboxQuery() {
  return queryOptions({ queryKey: ['me'], queryFn: () => fetchData(client.GET('/me')), staleTime: 60_000 })
}

export const ownerCredentials: Credentials = {
  signInWithCode: (body) => fetchData(client.POST('/me/login', { body })),
  passkeySignInOptions: (body) => fetchData(client.POST('/me/passkeys/login/options', { body })),
  verifyPasskeySignIn: (body) => fetchData(client.POST('/me/passkeys/login/verify', { body })),
  signOut: () => fetchData(client.POST('/me/logout')),
  signOutEverywhere: () => fetchData(client.POST('/me/logout-all')),
  changePassword: (body) => fetchData(client.POST('/me/password', { body })),
  setUpTotp: (body) => fetchData(client.POST('/me/totp/setup', { body })),
  verifyTotp: (code) => fetchData(client.POST('/me/totp/verify', { body: { code } })),
  disableTotp: (body) => fetchData(client.DELETE('/me/totp', { body })),
  renewTotpRecoveryCodes: (code) => fetchData(client.POST('/me/totp/recovery-codes', { body: { code } })),
  listPasskeys: () => fetchData(client.GET('/me/passkeys')),
  passkeyRegistrationOptions: (body) => fetchData(client.POST('/me/passkeys/register/options', { body })),
  verifyPasskeyRegistration: (body) => fetchData(client.POST('/me/passkeys/register/verify', { body })),
  renamePasskey: (id, name) => fetchData(client.PATCH('/me/passkeys/{id}', { params: { path: { id } }, body: { name } })),
  deletePasskey: (id, body) => fetchData(client.DELETE('/me/passkeys/{id}', { params: { path: { id } }, body })),
  renewPasskeyRecoveryCodes: (body) => fetchData(client.POST('/me/passkeys/recovery-codes', { body })),
  listSessions: () => fetchData(client.GET('/me/sessions')),
  endSession: (id) => fetchData(client.DELETE('/me/sessions/{id}', { params: { path: { id } } })),
}

export const ownRequests: MailboxRequests = {
  id: 'me',
  vacation: {
    path: '/me/vacation',
    load: () => fetchData(client.GET('/me/vacation')),
    save: (body, header) => fetchData(client.PUT('/me/vacation', { params: { header }, body })),
    remove: () => fetchData(client.DELETE('/me/vacation')),
  },
  forward: {
    path: '/me/forward',
    load: () => fetchData(client.GET('/me/forward')),
    save: (forward, header) => fetchData(client.PUT('/me/forward', { params: { header }, body: forward })),
  },
  sieve: {
    path: (name) => `/me/sieve/${encodeURIComponent(name)}`,
    list: () => fetchData(client.GET('/me/sieve')),
    load: (name) => fetchData(client.GET('/me/sieve/{name}', { params: { path: { name } } })),
    save: (name, script, header) => fetchData(client.PUT('/me/sieve/{name}', { params: { path: { name }, header }, body: { script } })),
    remove: (name) => fetchData(client.DELETE('/me/sieve/{name}', { params: { path: { name } } })),
    activate: (name) => fetchData(client.POST('/me/sieve/{name}/activate', { params: { path: { name } } })),
    deactivate: () => fetchData(client.POST('/me/sieve/deactivate')),
    validate: (script) => fetchData(client.POST('/sieve/validate', { body: { script } })),
    test: (body) => fetchData(client.POST('/sieve/test', { body })),
    listMessages: null,
  },
  setup: {
    load: () => fetchData(client.GET('/me/setup') as SetupResult),
    createLink: () => fetchData(client.POST('/me/setup-link')),
    deleteLink: () => fetchData(client.DELETE('/me/setup-link')),
    profile: '/api/v1/me/setup?format=apple',
  },
  appPasswords: {
    list: () => fetchData(client.GET('/me/app-passwords')),
    create: (body, confirmation) => fetchData(client.POST('/me/app-passwords', { body: { ...body, ...confirmation } })),
    remove: (app_password_id, body) =>
      fetchData(client.DELETE('/me/app-passwords/{app_password_id}', { params: { path: { app_password_id } }, body })),
  },
}
