import { expect, test } from 'vitest'
import { describeAdvice, describeProgress, describeStatus, type DnsRecord, isOpenAtFirst, splitValue, summarize } from './records'

const RECORD: DnsRecord = {
  purpose: 'mx',
  type: 'MX',
  name: 'example.test',
  value: '10 mx.example.test',
  ttl: 3600,
  required: true,
  description: '',
  status: 'ok',
  found: [],
  problem: null,
  advice: null,
  checked_at: null,
}

test.each<[Partial<DnsRecord>, string, string, boolean]>([
  [{}, 'ok', 'good', false],
  [{ advice: 'Keep exactly one.' }, 'ok', 'good', true],
  [{ status: 'missing' }, 'missing', 'bad', true],
  [{ status: 'missing', required: false }, 'missing', 'calm', false],
  // The record of a key that is to sign.
  [{ status: 'missing', required: false, purpose: 'dkim' }, 'missing', 'warn', true],
  [{ status: 'mismatch', required: false }, 'differs', 'warn', true],
  [{ status: 'multiple' }, 'more than one', 'bad', true],
  // Says nothing about the record.
  [{ status: 'dns_error' }, 'no answer', 'warn', false],
  [{ status: 'not_checked' }, 'not checked', 'calm', true],
  [{ status: 'not_checked', required: false }, 'not checked', 'calm', false],
])('the status of a record: %o', (change, text, tone, isOpen) => {
  const record = { ...RECORD, ...change }
  expect(describeStatus(record)).toEqual({ text, tone })
  expect(isOpenAtFirst(record)).toBe(isOpen)
})

test('values are split as the forms of DNS providers have them', () => {
  expect(splitValue(RECORD)).toEqual([
    ['Priority', '10'],
    ['Mail server', 'mx.example.test'],
  ])
  expect(splitValue({ type: 'SRV', value: '0 1 993 mx.example.test' }).map(([name]) => name)).toEqual([
    'Priority',
    'Weight',
    'Port',
    'Target',
  ])
  expect(splitValue({ type: 'TXT', value: 'v=spf1 mx -all' })).toEqual([['Value', 'v=spf1 mx -all']])
  expect(splitValue({ type: 'TXT', value: null })).toEqual([])
})

test('the sentence about a check counts what is to be done', () => {
  const wrong: DnsRecord = { ...RECORD, status: 'missing' }
  expect(summarize('failing', [RECORD, wrong])).toBe('1 required record of 2 is missing or wrong. Mail may be lost or refused.')
  expect(summarize('failing', [wrong, wrong])).toContain('2 required records of 2 are missing or wrong')
  // Those that gave no answer now were wrong before.
  expect(summarize('failing', [{ ...RECORD, status: 'dns_error' }])).toContain('at the last check')
  expect(summarize('attention', [{ ...RECORD, advice: 'Keep exactly one.' }])).toBe('Mail works. 1 record can be improved.')
})

test('a long value is not repeated in the advice', () => {
  expect(describeAdvice({ ...RECORD, status: 'missing', advice: `Add this record: value ${RECORD.value}.` })).toBe('Add this record:')
  expect(describeAdvice({ ...RECORD, status: 'mismatch', advice: `Replace it by: ${RECORD.value}` })).toContain(RECORD.value)
})

test('the progress of a check says why it may take long', () => {
  const now = Date.parse('2026-01-01T00:01:30Z')
  const waiting = { state: 'waiting', checked_at: null } as const
  expect(describeProgress({ state: 'idle', requested_at: null, checked_at: null }, now)).toBe('')
  expect(describeProgress({ ...waiting, requested_at: '2026-01-01T00:01:00Z' }, now)).toBe('The check begins in a moment…')
  expect(describeProgress({ ...waiting, requested_at: '2026-01-01T00:00:00Z' }, now)).toContain('mailkeep status')
})
