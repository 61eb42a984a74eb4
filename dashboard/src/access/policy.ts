import type { Schema } from '../api/client'
import { POLICY } from '../api/__generated__/policy'

export type Role = Schema['OwnAccount']['role']
export type Action = keyof typeof POLICY

/** The roles, lowest first. */
export const ROLES: readonly Role[] = ['domain_admin', 'admin', 'super_admin']

export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  domain_admin: 'Domain administrator',
  admin: 'Administrator',
  super_admin: 'Super administrator',
}

/**
 * Why this account is not allowed to do an action, or null. The server enforces the policy; this table is generated from
 * it and only hides what would be refused.
 */
export function denialReason(account: Schema['OwnAccount'], action: Action): string | null {
  const rule = POLICY[action]
  if (account.second_factor_required && !rule.unenrolled) return 'Your role requires two-factor authentication. Set it up under Account.'
  if (ROLES.indexOf(account.role) < ROLES.indexOf(rule.role)) return `Only ${ROLE_NAMES[rule.role].toLowerCase()}s have access.`
  return null
}
