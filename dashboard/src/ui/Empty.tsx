import type { ReactNode } from 'react'
import { Icon, type IconName } from './Icon'

/** Where there is nothing yet: what would stand here, and the first step to it. */
export function Empty(props: { icon: IconName; title: string; children: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <Icon name={props.icon} size={30} />
      <h2>{props.title}</h2>
      <p>{props.children}</p>
      {props.action}
    </div>
  )
}
