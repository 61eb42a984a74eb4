import { expect, test } from 'vitest'
import { ApiError } from '../../../api/errors'
import { addTemplate, missingFields, type TemplateValues } from './templates'
import { describeAction, errorsOf } from './words'

const VALUES: TemplateValues = { match: 'bob@a.test', folder: 'Bob', address: 'c@d.test', keepCopy: true, reason: 'No "thanks"' }

test('a template adds its rule at the end and its extensions at the start', () => {
  expect(addTemplate('', 'sender', VALUES)).toBe(
    'require ["fileinto", "mailbox"];\nif address :is "from" "bob@a.test" {\n  fileinto :create "Bob";\n  stop;\n}\n',
  )
  expect(addTemplate('require "fileinto";\nkeep;', 'list', { ...VALUES, match: ' x\\"y ' })).toBe(
    'require ["mailbox"];\nrequire "fileinto";\nkeep;\nif header :contains "list-id" "x\\\\\\"y" {\n  fileinto :create "Bob";\n  stop;\n}\n',
  )
  expect(addTemplate('require ["mailbox",\n "fileinto"];\n', 'subject', VALUES)).not.toContain('require ["fileinto"')
  expect(addTemplate('# require "copy";\n', 'forward', VALUES)).toBe('require ["copy"];\n# require "copy";\nredirect :copy "c@d.test";\n')
  expect(addTemplate('', 'forward', { ...VALUES, keepCopy: false })).toBe('redirect "c@d.test";\n')
  expect(addTemplate('', 'reject', { ...VALUES, match: '@a.test' })).toBe(
    'require ["reject"];\nif address :domain :is "from" "a.test" {\n  reject "No \\"thanks\\"";\n  stop;\n}\n',
  )
})

test('a template needs its fields', () => {
  expect(missingFields('sender', { ...VALUES, folder: ' ' })).toEqual(['folder'])
  expect(missingFields('forward', { ...VALUES, match: '' })).toEqual([])
})

test('actions are described in words', () => {
  const action = { folder: null, create: false, flags: [], address: null, subject: null, text: null, description: 'raw' }
  expect(describeAction({ ...action, action: 'fileinto', folder: 'A', create: true, flags: ['\\seen'] })).toBe(
    'File the message into “A” (created if missing), with the flags \\seen',
  )
  expect(describeAction({ ...action, action: 'redirect', address: 'a@b.test' })).toBe('Forward the message to a@b.test')
  expect(describeAction({ ...action, action: 'other' })).toBe('raw')
})

test('the errors of a refused script are those of its compiler', () => {
  const errors = [{ line: 2, message: 'unknown command' }]
  expect(errorsOf(new ApiError({ code: 'INVALID_FIELD', message: '', details: { errors } }))).toEqual(errors)
  expect(errorsOf(new ApiError({ code: 'CONFLICT', message: '' }))).toEqual([])
})
