import { expect, test } from 'vitest'
import { describeChange, formatRate, messagesHref, outcomeSeries, readQuery, type Row, rowHrefs, ZONE } from './figures'

const ROW: Row = {
  at: '2026-05-01T22:00:00.000Z',
  messages: 3,
  accepted: 5,
  delivered: 3,
  deferred: 1,
  bounced: 1,
  failed: 0,
  suppressed: 0,
  complained: 0,
  received: 7,
  rejected: 0,
  spam: 0,
  delivery_rate: 0.75,
  bounce_rate: 0.25,
  complaint_rate: 0,
  first_attempt_rate: 1,
  median_seconds: null,
  p95_seconds: null,
}

test('of the filters that exclude each other one is used, and an unknown period is the default', () => {
  expect(readQuery({ period: '1d', domain: 'd', tag: 't', key: 'k' })).toEqual({ period: '7d', tz: ZONE, domain_id: 'd', tag: 't' })
  expect(readQuery({ period: '24h', provider: 'google', tag: 't' })).toEqual({ period: '24h', tz: ZONE, provider: 'google' })
})

test('links to messages have only filters of that list', () => {
  const of = (params: Record<string, string>) => new URLSearchParams(messagesHref('bounced', readQuery(params), ROW.at).split('?')[1])
  expect(Object.keys(Object.fromEntries(of({ domain: 'd', key: 'k' })))).toEqual(['direction', 'status', 'domain', 'key', 'since'])
  expect(of({ tag: 'a+b&c' }).get('tag')).toBe('a+b&c')
  expect([...of({ tag: 'other' }).keys()]).not.toContain('tag')
  const ofClass = messagesHref('deferred', { ...readQuery({ provider: 'google' }), class: 'greylisted' }, ROW.at)
  expect(ofClass).toContain('direction=outbound&status=deferred&provider=google&class=greylisted&since=')
  const hrefs = rowHrefs([ROW, { ...ROW, at: '2026-05-02T22:00:00.000Z' }], readQuery({}), 'inbound')
  expect(hrefs.map((href) => new URLSearchParams(href.split('?')[1]).has('until'))).toEqual([true, false])
  expect(hrefs[0]).toContain('direction=inbound')
})

test('a rate is 0 % or 100 % only if it is exactly that', () => {
  expect([null, 0, 1, 0.00001, 0.99999, 0.9876, 0.5].map(formatRate)).toEqual(['–', '0 %', '100 %', '0.01 %', '99.99 %', '98.8 %', '50 %'])
})

test('changes name the number of the period before', () => {
  expect([describeChange(3, 3), describeChange(5, 0), describeChange(15, 10), describeChange(0, 4)]).toEqual([
    'as before (3)',
    '0 before',
    '+50 %, 10 before',
    '−100 %, 4 before',
  ])
})

test('with a provider there is no line of accepted mail', () => {
  expect(outcomeSeries([ROW], [ROW], true).map((each) => each.counts)).toEqual([[0], [1], [3], [5], [5]])
  expect(outcomeSeries([ROW], [ROW], false).map((each) => each.label)).not.toContain('Accepted')
})
