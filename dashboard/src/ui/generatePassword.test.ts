import { expect, test } from 'vitest'
import { generatePassword } from './generatePassword'

test('generated passwords are long, unambiguous and use all characters about equally often', () => {
  const passwords = Array.from({ length: 2000 }, generatePassword)
  expect(new Set(passwords).size).toBe(2000)
  for (const password of passwords) expect(password).toMatch(/^[a-km-np-zA-HJ-NP-Z2-9]{20}$/)
  const counts = new Map<string, number>()
  for (const character of passwords.join('')) counts.set(character, (counts.get(character) ?? 0) + 1)
  expect(counts.size).toBe(56)
  // 714 of each on average, with a standard deviation of 26.
  for (const count of counts.values()) expect(Math.abs(count - 40_000 / 56)).toBeLessThan(8 * 26)
})
