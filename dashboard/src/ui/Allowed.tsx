import { Tooltip } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { cloneElement, type ReactElement } from 'react'
import type { Schema } from '../api/client'
import { me } from '../api/queries'
import { type Action, barred } from '../policy'

/** The account that is logged in; only below the layout, which has asked for it. */
export function useAccount(): Schema['Account'] {
  return useSuspenseQuery(me()).data
}

/** Why the account may not, or null. */
export function useBarred(action: Action): string | null {
  return barred(useAccount(), action)
}

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
