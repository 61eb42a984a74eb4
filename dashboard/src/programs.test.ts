import { expect, test } from 'vitest'
import { describeProgram } from './programs'

test('browsers are named, other programs keep their text', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)'
  expect(describeProgram(`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/156.0 Safari/537.36`)).toBe('Chrome on Linux')
  expect(describeProgram(`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/156.0 Safari/537.36 Edg/156.0`)).toBe('Edge on Windows')
  expect(describeProgram('Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0')).toBe('Firefox on Android')
  expect(describeProgram(`Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${webkit} Version/18.0 Mobile Safari/604.1`)).toBe(
    'Safari on iOS',
  )
  expect(describeProgram('Mozilla/5.0 (unknown)')).toBe('Mozilla/5.0 (unknown)')
  expect(describeProgram('Phone with Linux')).toBe('Phone with Linux')
})
