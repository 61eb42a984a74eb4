import { type ReactNode, useEffect, useRef } from 'react'
import { useNavigation } from './navigation'

/** A screen with its title, description and actions. After a navigation the title has the focus. */
export function Page(props: { title: string; lead?: ReactNode; actions?: ReactNode; back?: ReactNode; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const path = useNavigation().usePath()
  useEffect(() => {
    // After a page load the focus stays where the browser puts it.
    if (isNavigation && !heading.current?.closest('main')?.contains(document.activeElement)) heading.current?.focus()
    isNavigation = true
  }, [path])
  return (
    <>
      <title>{`${props.title} · Mailkeep`}</title>
      {props.back && <div className="page-back">{props.back}</div>}
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {props.title}
          </h1>
          {props.lead && <p className="page-lead">{props.lead}</p>}
        </div>
        {props.actions && <div className="page-actions">{props.actions}</div>}
      </header>
      {props.children}
    </>
  )
}

/** False until the first screen after a page load is shown. */
let isNavigation = false

/** A section of a screen with its heading. */
export function Section(props: { title: string; lead?: ReactNode; actions?: ReactNode; children: ReactNode; bare?: boolean }) {
  return (
    <section className={props.bare ? 'section' : 'section card'}>
      <header className="section-head">
        <div>
          <h2>{props.title}</h2>
          {props.lead && <p className="muted">{props.lead}</p>}
        </div>
        {props.actions && <div className="page-actions">{props.actions}</div>}
      </header>
      {props.children}
    </section>
  )
}

/** Names and values as a description list. */
export function Facts({ rows }: { rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
