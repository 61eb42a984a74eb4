import { Tooltip } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { cloneElement, type ReactElement } from 'react'
import type { Schema } from '../api/client'
import { accountQuery, versionQuery } from '../api/queries'
import type { NavigationEntry } from '../navigation'
import { type Action, denialReason } from './policy'

/** The signed-in account. Only below the layout, which has loaded it. */
export function useAccount(): Schema['OwnAccount'] {
  return useSuspenseQuery(accountQuery()).data
}

/** Why the account is not allowed to do `action`, or null. */
export function useDenialReason(action: Action): string | null {
  return denialReason(useAccount(), action)
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

/**
 * A control that is absent if the role is not allowed to do `action`, and disabled if there is a `disabledReason`. The
 * keyboard still reaches a disabled control, so that screen readers announce the reason.
 */
export function Allowed(props: { action: Action; disabledReason?: string | null; children: ReactElement<ControlProps> }) {
  const isDenied = useDenialReason(props.action) !== null
  if (isDenied) return null
  if (!props.disabledReason) return props.children
  const stop = (event: { preventDefault: () => void; stopPropagation: () => void }) => {
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <Tooltip label={props.disabledReason} w={260}>
      {cloneElement(props.children, { 'data-disabled': true, 'aria-disabled': true, onClick: stop, onChange: stop })}
    </Tooltip>
  )
}

interface ControlProps {
  'data-disabled'?: boolean
  'aria-disabled'?: boolean
  onClick?: unknown
  onChange?: unknown
}
