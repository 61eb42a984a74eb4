import { Tooltip } from '@mantine/core'
import { cloneElement, createContext, type ReactElement, useContext } from 'react'
import type { Action } from './policy'

/**
 * Why the principal is not allowed to do an action, or null. The layout of the dashboard sets it; the page for mailbox
 * owners shows only what they may do.
 */
export const DenialContext = createContext<(action: Action) => string | null>(() => null)

/** Why the account is not allowed to do `action`, or null. */
export function useDenialReason(action: Action): string | null {
  return useContext(DenialContext)(action)
}

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
