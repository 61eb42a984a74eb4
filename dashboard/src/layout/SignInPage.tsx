import type { ReactNode } from 'react'
import { Logo } from '../ui/Icon'
import { ThemeSwitch } from './Layout'

/** The page of a form that needs no session: a card with a heading. `footer`: beside the switch of the theme. */
export function SignInPage(props: { title: string; heading: string; footer?: ReactNode; children: ReactNode }) {
  return (
    <main className="sign-in">
      <title>{`${props.title} · Mailkeep`}</title>
      <div className="card sign-in-card">
        <header className="sign-in-head">
          <Logo size={40} />
          <h1>{props.heading}</h1>
        </header>
        {props.children}
        <div className="between small">
          <span>{props.footer}</span>
          <ThemeSwitch />
        </div>
      </div>
    </main>
  )
}
