import { expect, test } from 'vitest'
import { pickUnit } from '../units'
import { domainBody, initialValues as initialDomain } from './domains/domainValues'
import { createBody, initialValues as initialMailbox, patchBody } from './mailboxes/mailboxValues'

const GB = pickUnit(undefined)

test('a new domain has 1 GB per mailbox, no limits and no relay', () => {
  expect(domainBody(initialDomain(undefined, GB), GB)).toMatchObject({
    default_quota_bytes: 1024 ** 3,
    max_mailboxes: null,
    max_aliases: null,
    plus_delimiter: '+',
    relay: null,
  })
})

test('a relay without a new password keeps the stored one', () => {
  const values = { ...initialDomain(undefined, GB), relay_host: ' smtp.example.net ', relay_port: '' }
  expect(domainBody(values, GB).relay).toEqual({ host: 'smtp.example.net', port: 587, tls: 'starttls', username: '' })
  expect(domainBody({ ...values, relay_password: 'x' }, GB).relay).toMatchObject({ password: 'x' })
})

test('a blank quota or password of a mailbox is not sent', () => {
  const values = { ...initialMailbox(undefined, 'd1', GB), local_part: ' alice ' }
  expect(createBody(values, GB)).toMatchObject({ local_part: 'alice', domain_id: 'd1', active: true })
  expect(patchBody(values, GB)).not.toHaveProperty('password')
  expect(patchBody(values, GB)).not.toHaveProperty('quota_bytes')
  expect(patchBody({ ...values, quota: 1.5 }, GB).quota_bytes).toBe(1.5 * 1024 ** 3)
})
