import { Tooltip } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { cloneElement, type ReactElement } from 'react'
import type { Schema } from '../api/client'
import { me, version } from '../api/queries'
import type { Entry } from '../navigation'
import { type Action, barred } from '../policy'

/** The account that is logged in; only below the layout, which has asked for it. */
export function useAccount(): Schema['OwnAccount'] {
  return useSuspenseQuery(me()).data
}

/** Why the account may not, or null. */
export function useBarred(action: Action): string | null {
  return barred(useAccount(), action)
}

/** Why a screen has nothing to show: the role may not see it, or the instance has no such thing; null where it does. */
export function useClosed(): (entry: Entry) => string | null {
  const account = useAccount()
  const { data } = useQuery(version())
  return (entry) => barred(account, entry.action) ?? (data && entry.only && entry.only !== data.profile ? ELSEWHERE[entry.only] : null)
}

const ELSEWHERE = {
  full: 'Only the full profile has this: here no mail server is behind Mailkeep.',
  embedded: 'Nothing is caught here: this server sends mail to whom it is addressed.',
} as const

/**
 * A control that is disabled, with the reason, where the role may not do `action`, or `unless` says why not.
 * It can still be reached with the keyboard, so that the reason can be heard.
 */
export function Allowed(props: { to: Action; unless?: string | null; children: ReactElement<ControlProps> }) {
  const reason = useBarred(props.to) ?? props.unless ?? null
  if (!reason) return props.children
  const stop = (event: { preventDefault: () => void; stopPropagation: () => void }) => {
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <Tooltip label={reason} w={260}>
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
