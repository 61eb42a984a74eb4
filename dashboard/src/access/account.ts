import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import type { Schema } from '../api/client'
import { accountQuery, versionQuery } from '../api/queries'
import type { NavigationEntry } from '../navigation'
import { denialReason } from './policy'

/** The signed-in account. Only below the layout, which has loaded it. */
export function useAccount(): Schema['OwnAccount'] {
  return useSuspenseQuery(accountQuery()).data
}

/** Why a screen is not available (the role or the profile), or null. */
export function useUnavailableReason(): (entry: NavigationEntry) => string | null {
  const account = useAccount()
  const { data } = useQuery(versionQuery())
  return (entry) =>
    denialReason(account, entry.action) ?? (data && entry.profile && entry.profile !== data.profile ? PROFILE_REASONS[entry.profile] : null)
}

const PROFILE_REASONS = {
  full: 'Available in the full profile only.',
  embedded: 'Available in the embedded profile only. This server delivers outbound mail to its recipients.',
} as const
