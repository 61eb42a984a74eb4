import { expect, test } from 'vitest'
import type { Schema } from '../api/client'
import { denialReason, type Role } from './policy'

const account = (role: Role, second_factor_required = false) => ({ role, second_factor_required }) as Schema['OwnAccount']

test('an action is allowed from its role upwards', () => {
  expect(denialReason(account('domain_admin'), 'webhook.list')).toBe('Only administrators have access.')
  expect(denialReason(account('admin'), 'webhook.list')).toBeNull()
  expect(denialReason(account('super_admin'), 'webhook.list')).toBeNull()
  expect(denialReason(account('admin'), 'admin.write')).toBe('Only super administrators have access.')
})

test('without the required second factor only enrolment is allowed', () => {
  expect(denialReason(account('super_admin', true), 'domain.list')).toContain('two-factor authentication')
  expect(denialReason(account('super_admin', true), 'factor.enrol')).toBeNull()
})
