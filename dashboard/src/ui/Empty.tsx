import type { ReactNode } from 'react'
import { Icon, type IconName } from './Icon'

/** Shown instead of an empty list: one sentence and the next action. */
export function EmptyState(props: { icon: IconName; title: string; children: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <Icon name={props.icon} size={30} />
      <h2>{props.title}</h2>
      <p>{props.children}</p>
      {props.action}
    </div>
  )
}
