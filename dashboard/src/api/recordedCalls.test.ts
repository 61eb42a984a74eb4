import { expect, test } from 'vitest'
import { withoutSecrets } from './recordedCalls'

test('a recorded request has no private key and short attachments', () => {
  expect(JSON.stringify(withoutSecrets({ selector: 's', private_key: '-----BEGIN PRIVATE KEY-----\nMIIE' }))).not.toContain('MIIE')
  const sent = { subject: 's', attachments: [{ filename: 'a', content: 'x'.repeat(1000) }] }
  expect(JSON.stringify(withoutSecrets(sent)).length).toBeLessThan(300)
})
