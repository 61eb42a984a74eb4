import { type ApiResult, client, fetchData, fetchPage, type Schema } from './client'
import type { Confirmation } from './credentials'

type IfMatch = { 'If-Match'?: string }

/**
 * The requests about one mailbox that its screens share with the page of its owner, whose paths are below `/me`
 * (me/requests.ts). `path`: of the object, for its version. `id` is part of query keys.
 */
export function mailboxRequests(id: string) {
  const path = { id }
  async function listMessages(): Promise<TestMessage[]> {
    const query = { mailbox_id: id, direction: 'inbound', status: 'received', limit: 25 } as const
    return (await fetchPage(client.GET('/messages', { params: { query } }))).rows
  }
  return {
    id,
    vacation: {
      path: `/mailboxes/${id}/vacation`,
      load: () => fetchData(client.GET('/mailboxes/{id}/vacation', { params: { path } })),
      save: (body: Schema['VacationWrite'], header: IfMatch) =>
        fetchData(client.PUT('/mailboxes/{id}/vacation', { params: { path, header }, body })),
      remove: () => fetchData(client.DELETE('/mailboxes/{id}/vacation', { params: { path } })),
    },
    forward: {
      path: `/mailboxes/${id}`,
      load: async (): Promise<Forward> => (await fetchData(client.GET('/mailboxes/{id}', { params: { path } }))).forward,
      save: async (forward: Forward, header: IfMatch): Promise<Forward> =>
        (await fetchData(client.PATCH('/mailboxes/{id}', { params: { path, header }, body: { forward } }))).forward,
    },
    sieve: {
      path: (name: string) => `/mailboxes/${id}/sieve/${encodeURIComponent(name)}`,
      list: () => fetchData(client.GET('/mailboxes/{id}/sieve', { params: { path } })),
      load: (name: string) => fetchData(client.GET('/mailboxes/{id}/sieve/{name}', { params: { path: { id, name } } })),
      save: (name: string, script: string, header: IfMatch) =>
        fetchData(client.PUT('/mailboxes/{id}/sieve/{name}', { params: { path: { id, name }, header }, body: { script } })),
      remove: (name: string): Promise<unknown> =>
        fetchData(client.DELETE('/mailboxes/{id}/sieve/{name}', { params: { path: { id, name } } })),
      activate: (name: string): Promise<unknown> =>
        fetchData(client.POST('/mailboxes/{id}/sieve/{name}/activate', { params: { path: { id, name } } })),
      deactivate: (): Promise<unknown> => fetchData(client.POST('/mailboxes/{id}/sieve/deactivate', { params: { path } })),
      validate: (script: string) => fetchData(client.POST('/sieve/validate', { body: { script } })),
      test: (body: Schema['ScriptTest']) => fetchData(client.POST('/sieve/test', { body })),
      /** Received messages that a script can be tested with, newest first; null without access to their content. */
      listMessages: listMessages as (() => Promise<TestMessage[]>) | null,
    },
    setup: {
      load: () => fetchData(client.GET('/mailboxes/{id}/setup', { params: { path } }) as SetupResult),
      createLink: (): Promise<unknown> => fetchData(client.POST('/mailboxes/{id}/setup-link', { params: { path } })),
      deleteLink: (): Promise<unknown> => fetchData(client.DELETE('/mailboxes/{id}/setup-link', { params: { path } })),
      profile: `/api/v1/mailboxes/${id}/setup?format=apple`,
    },
    appPasswords: {
      list: () => fetchData(client.GET('/mailboxes/{id}/app-passwords', { params: { path } })),
      create: (body: Schema['AppPasswordCreate']) => fetchData(client.POST('/mailboxes/{id}/app-passwords', { params: { path }, body })),
      remove: (app_password_id: string) =>
        fetchData(client.DELETE('/mailboxes/{id}/app-passwords/{app_password_id}', { params: { path: { id, app_password_id } } })),
    },
  }
}

/** The setup in its default format, JSON. */
export type SetupResult = ApiResult<{ data: Schema['ClientSetupResponse'] }>

type AdministratorsRequests = ReturnType<typeof mailboxRequests>

export interface MailboxRequests extends Omit<AdministratorsRequests, 'appPasswords'> {
  /** Owners confirm changes with their password, if they have signed in some time ago. */
  appPasswords: {
    list: AdministratorsRequests['appPasswords']['list']
    create: (body: Schema['AppPasswordCreate'], confirmation: Confirmation) => Promise<Schema['AppPasswordWithSecret']>
    remove: (app_password_id: string, confirmation: Confirmation) => Promise<{ message: string }>
  }
}

export type Forward = Schema['MailboxRecord']['forward']
type TestMessage = Pick<Schema['MessageResponse'], 'id' | 'subject' | 'from' | 'created_at'>
