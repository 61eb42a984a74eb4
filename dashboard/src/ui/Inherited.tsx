import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Badge } from './Badge'

interface Props {
  label: string
  /** What the value means. */
  help: ReactNode
  /** The value in force, in words. */
  value: ReactNode
  /** Where it comes from, such as “from the domain”. */
  source: string
  /** Whether the form has a value of its own, not the inherited one. */
  isOverridden: boolean
  /** Whether the form differs from what is saved. */
  isEdited: boolean
  /** Without it, the value can't be changed. */
  onOverride?: () => void
  onUseDefault: () => void
  /** The input, while there is a value of its own. It gets the ID of its label. */
  children: (labels: { 'aria-labelledby': string; 'aria-describedby': string }) => ReactNode
}

/** A value that a wider scope supplies unless this one overrides it. In a list (`ul.settings`) of a form. */
export function Inherited(props: Props) {
  const { label, isOverridden, isEdited, onOverride } = props
  const id = useId()
  const row = useRef<HTMLLIElement>(null)
  const wasOverridden = useRef(isOverridden)
  useEffect(() => {
    // The pressed button is gone: the input, or the other button, gets the focus.
    if (wasOverridden.current === isOverridden) return
    wasOverridden.current = isOverridden
    if (document.activeElement === document.body)
      row.current?.querySelector<HTMLElement>('.setting-value input:not(:disabled), button')?.focus()
  }, [isOverridden])
  const button = { size: 'xs', variant: 'default' } as const
  return (
    <li ref={row} className={isEdited ? 'setting setting-edited' : 'setting'} data-setting={label}>
      <div className="stack-small">
        <h3 id={`${id}-label`}>{label}</h3>
        <p id={`${id}-help`} className="muted small">
          {props.help}
        </p>
        <div className="row row-tight">
          <Badge tone={isOverridden ? 'info' : 'calm'}>{props.source}</Badge>
          {isEdited && <Badge tone="warn">not saved</Badge>}
        </div>
      </div>
      <div className="stack-small setting-value">
        {isOverridden && onOverride ? (
          props.children({ 'aria-labelledby': `${id}-label`, 'aria-describedby': `${id}-help` })
        ) : (
          <p className="strong">{props.value}</p>
        )}
        {onOverride && (
          <div>
            {isOverridden ? (
              <Button key="default" {...button} onClick={props.onUseDefault} aria-label={`Use default of ${label}`}>
                Use default
              </Button>
            ) : (
              <Button key="override" {...button} onClick={onOverride} aria-label={`Override ${label}`}>
                Override
              </Button>
            )}
          </div>
        )}
      </div>
    </li>
  )
}
