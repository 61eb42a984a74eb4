import { describe, expect, it } from 'vitest'
import { type Component, describeDetails, describeForecast, forecastDisk, sortByStatus, summarize } from './texts'

const GB = 1024 ** 3

function component(status: Component['status']): Component {
  return { component: 'disk', status, since: null, latency_ms: null, version: null, advice: null, details: {} }
}

describe('the details of a component', () => {
  it('are names and texts, without what is not measured', () => {
    expect(
      describeDetails({
        free_bytes: 3 * GB,
        synchronized: false,
        ntp_server: null,
        jobs: [
          { job: 'sealing', every_seconds: 5 },
          { job: 'digests', every_seconds: 60 },
        ],
        processes: { worker: true, node: false },
        listed: [],
        history: [{ day: '2026-03-01' }],
      }),
    ).toEqual([
      ['free bytes', '3.0 GB'],
      ['synchronized', 'no'],
      ['jobs', 'sealing, 5; digests, 60'],
      ['processes', 'worker: yes; node: no'],
    ])
  })
})

describe('the forecast of the disk', () => {
  const history = [
    { day: '2026-03-01', used_bytes: 4 * GB, total_bytes: 10 * GB },
    { day: '2026-03-02', used_bytes: 6 * GB, total_bytes: 10 * GB },
  ]
  it('goes on to the day on which it is full', () => {
    const { days, series } = forecastDisk({ bytes_per_day: 2 * GB, days_until_full: 1.9, history })
    expect(days).toEqual(['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04'])
    expect(series.map((each) => each.counts)).toEqual([
      [4 * GB, 6 * GB, null, null],
      [10 * GB, 10 * GB, 10 * GB, 10 * GB],
      [null, 6 * GB, 8 * GB, 10 * GB],
    ])
  })
  it('is left out without enough measurements', () => {
    const { days, series } = forecastDisk({ bytes_per_day: null, days_until_full: null, history })
    expect(days).toHaveLength(2)
    expect(series.map((each) => each.label)).toEqual(['In use', 'Size'])
    expect(forecastDisk({}).days).toEqual([])
  })
  it('is said in words', () => {
    expect(describeForecast({ bytes_per_day: null })).toContain('three days')
    expect(describeForecast({ bytes_per_day: GB, days_until_full: 6.2 })).toBe('It grows by 1.0 GB a day, and is full in 6 days.')
    expect(describeForecast({ bytes_per_day: GB, days_until_full: null })).toContain('not full within a year')
    expect(describeForecast({ bytes_per_day: -GB })).toContain('falls by 1.0 GB')
  })
})

describe('the list', () => {
  it('begins with what needs attention', () => {
    const sorted = sortByStatus([component('disabled'), component('ok'), component('degraded'), component('down')])
    expect(sorted.map((each) => each.status)).toEqual(['down', 'degraded', 'ok', 'disabled'])
  })
  it('counts each status', () => {
    expect(summarize([component('ok'), component('down'), component('disabled')])).toBe('1 of 3 components ok, 1 down, 1 disabled')
  })
})
