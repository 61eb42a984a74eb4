import { useSyncExternalStore } from 'react'
import { client, fetchData, type Schema } from './client'

export type BulkResource = 'mailbox' | 'alias'
export type BulkAction = Schema['BulkBody']['action']
export type BulkItem = Schema['BulkBody']['items'][number]
export type OperationStatus = Schema['OperationStatusRecord']

/** Operations that belong together, such as the parts of a large import. The header shows their progress. */
export interface FollowedOperation {
  ids: readonly string[]
  /** What they do: “Importing 1,200 mailboxes”. */
  title: string
  /** Of a bulk operation: what the items are about, in their order; unknown after a reload. */
  names: readonly string[]
  /** Of an operation on backups: the backup. */
  backup?: string
}

export const MAX_ITEMS = 1000
const KEY = 'mailkeep-operations'

/** Starts a bulk operation; returns its ID. */
export async function submitBulk(resource: BulkResource, action: BulkAction, items: BulkItem[], dry_run = false): Promise<string> {
  const options = { body: { action, items, dry_run } }
  const started = resource === 'mailbox' ? client.POST('/mailboxes/bulk', options) : client.POST('/aliases/bulk', options)
  return (await fetchData(started)).operation_id
}

/** Starts an operation for each 1,000 items; the server carries them out in this order. */
export async function submitParts(
  resource: BulkResource,
  action: BulkAction,
  items: readonly BulkItem[],
  dryRun = false,
): Promise<string[]> {
  const ids: string[] = []
  for (let start = 0; start < items.length; start += MAX_ITEMS)
    ids.push(await submitBulk(resource, action, items.slice(start, start + MAX_ITEMS), dryRun))
  return ids
}

export function fetchOperation(id: string): Promise<OperationStatus> {
  return fetchData(client.GET('/operations/{id}', { params: { path: { id } } }))
}

export interface ItemError {
  /** The position among all items, from 0. */
  index: number
  code: string
  message: string
  /** Another item with the same name; `message` names its index within the call. */
  repeats?: number
}

/** The errors of operations, in the order of the items. */
export function listErrors(operations: readonly OperationStatus[]): ItemError[] {
  let first = 0
  const errors: ItemError[] = []
  for (const { progress, results } of operations) {
    for (const { index, error } of results)
      if (error) {
        const details = error['details'] as Record<string, unknown> | null
        const repeats = details?.['reason'] === 'repeated' ? { repeats: first + Number(details['index']) } : {}
        errors.push({ index: first + index, code: String(error['code']), message: String(error['message']), ...repeats })
      }
    first += progress.total
  }
  return errors
}

let followed: readonly FollowedOperation[] = restore()
const listeners = new Set<() => void>()

function restore(): readonly FollowedOperation[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as FollowedOperation[]
  } catch {
    return []
  }
}

function change(next: readonly FollowedOperation[]): void {
  followed = next
  // Without the names: addresses stay out of the browser's storage.
  sessionStorage.setItem(KEY, JSON.stringify(next.map((each) => ({ ...each, names: [] }))))
  listeners.forEach((listener) => listener())
}

/** Shows an operation in the header until it is dismissed. */
export function followOperation(operation: FollowedOperation): void {
  change([...followed, operation])
}

export function dismissOperation(operation: FollowedOperation): void {
  change(followed.filter((each) => each !== operation))
}

/** Forgets all operations, when the account signs out. */
export function dismissAllOperations(): void {
  change([])
}

export function useFollowedOperations(): readonly FollowedOperation[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => followed,
  )
}
