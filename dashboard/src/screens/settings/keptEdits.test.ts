import { beforeEach, expect, test, vi } from 'vitest'
import { keepEdits, takeKeptEdits } from './keptEdits'

beforeEach(() => {
  const stored = new Map<string, string>()
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  })
})

const EDITS = { saved: { a: '1', secret: '' }, values: { a: '2', secret: 'word' }, edited: ['a', 'secret'] }
const KINDS = { a: { input: 'number' }, secret: { input: 'secret' } } as const

test('edits are returned once, without secrets', () => {
  keepEdits('ann', '"3"', KINDS, EDITS, (key) => key === 'secret')
  expect(takeKeptEdits('ann')).toEqual({ account: 'ann', tag: '"3"', original: { a: '1' }, edits: { a: '2' }, hadSecrets: true })
  expect(takeKeptEdits('ann')).toBeNull()
})

test('another account gets nothing', () => {
  keepEdits('ann', undefined, KINDS, EDITS, () => false)
  expect(takeKeptEdits('bob')).toBeNull()
})
