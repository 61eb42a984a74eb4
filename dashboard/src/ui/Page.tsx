import { useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'

/**
 * A screen: its title (also the tab's), what it is for, and what can be done on it. Who comes from another screen
 * finds the focus on the title.
 */
export function Page(props: { title: string; lead?: ReactNode; actions?: ReactNode; back?: ReactNode; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const path = useRouterState({ select: (state) => state.location.pathname })
  useEffect(() => {
    // The first screen after a load leaves the focus where the browser puts it.
    if (visited.has('any') && !heading.current?.closest('main')?.contains(document.activeElement)) heading.current?.focus()
    visited.add('any')
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

const visited = new Set<string>()

/** A part of a screen with a heading of its own. */
export function Section(props: { title: string; lead?: ReactNode; actions?: ReactNode; children: ReactNode; bare?: boolean }) {
  return (
    <section className={props.bare ? 'section' : 'section card'}>
      <header className="section-head">
        <div>
          <h2>{props.title}</h2>
          {props.lead && <p className="soft">{props.lead}</p>}
        </div>
        {props.actions && <div className="page-actions">{props.actions}</div>}
      </header>
      {props.children}
    </section>
  )
}

/** Names and values, side by side where there is room. */
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
