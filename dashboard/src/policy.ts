import type { Schema } from './api/client'
import { POLICY } from './api/__generated__/policy'

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
 * Why this account may not do an action, in words for the person; null where it may. The server has the last word:
 * this only spares people a refusal. The table behind it is the server's own, generated.
 */
export function barred(account: Schema['OwnAccount'], action: Action): string | null {
  const rule = POLICY[action]
  if (account.second_factor_required && !rule.unenrolled) return 'Your role needs a second factor: enrol one first.'
  if (ROLES.indexOf(account.role) < ROLES.indexOf(rule.role)) return `Only ${ROLE_NAMES[rule.role].toLowerCase()}s may do this.`
  return null
}
