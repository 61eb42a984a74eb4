import { expect, test } from 'vitest'
import { writeSnippet } from './snippets'

const BASE = 'https://mail.example.test/api/v1'

test('secrets never appear in a snippet', () => {
  const call = { method: 'POST', path: '/x', body: { password: 'p4ss', nested: [{ client_secret: 's3cret' }], name: 'shown' } }
  for (const language of ['curl', 'python', 'javascript'] as const) {
    const text = writeSnippet(language, call, BASE)
    expect(text).toContain('shown')
    expect(text).not.toMatch(/p4ss|s3cret/)
  }
})

test('quotes are escaped for the shell, and null and booleans are Python literals', () => {
  expect(writeSnippet('curl', { method: 'POST', path: '/x', body: { name: "it's" } }, BASE)).toContain(`it'\\''s`)
  expect(writeSnippet('python', { method: 'POST', path: '/x', body: { a: null, b: true } }, BASE)).toMatch(/"a": None,\s+"b": True,/)
})

test('empty query values are left out', () => {
  const call = { method: 'GET', path: '/domains', query: { limit: 5, cursor: undefined } }
  expect(writeSnippet('javascript', call, BASE)).toContain(`"${BASE}/domains?limit=5"`)
})
