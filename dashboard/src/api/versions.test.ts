import { expect, test } from 'vitest'
import { rememberVersion, versionOf } from './versions'

const response = (etag?: string) => new Response(null, { headers: etag ? { etag } : {} })

test('the version of an object is the ETag of its last response', () => {
  rememberVersion(new Request('https://mail.test/api/v1/domains/1'), response('"a"'))
  rememberVersion(new Request('https://mail.test/api/v1/domains/1', { method: 'PATCH' }), response('"b"'))
  rememberVersion(new Request('https://mail.test/api/v1/domains/1'), response())
  rememberVersion(new Request('https://mail.test/api/v1/domains', { method: 'POST' }), response('"c"'))
  expect(versionOf('/domains/1')).toBe('"b"')
  expect(versionOf('/domains')).toBeUndefined()
})
