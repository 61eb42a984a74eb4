import type { ReactNode } from 'react'
import { Icon, Logo } from '../ui/Icon'
import { ThemeSwitch } from '../ui/ThemeSwitch'

interface Props {
  title: string
  heading: string
  /** Beside the switch of the theme. */
  footer?: ReactNode
  /** Whether it opens a session: the browser must accept its cookie. */
  needsCookie?: boolean
  children: ReactNode
}

/** The page of a form that needs no session: a card with a heading. */
export function SignInPage({ title, heading, footer, needsCookie, children }: Props) {
  return (
    <main className="sign-in">
      <title>{`${title} · Mailkeep`}</title>
      <div className="card sign-in-card">
        <header className="sign-in-head">
          <Logo size={40} />
          <h1>{heading}</h1>
        </header>
        {needsCookie && !window.isSecureContext && (
          <Warning>
            This page was loaded over plain HTTP, so the browser rejects the session cookie. Use HTTPS, or open it at localhost on the
            server.
          </Warning>
        )}
        {children}
        <div className="between small">
          <span>{footer}</span>
          <ThemeSwitch />
        </div>
      </div>
    </main>
  )
}

export function Warning({ children }: { children: ReactNode }) {
  return (
    <div className="note note-warn" role="alert">
      <Icon name="warn" />
      <div>
        <p>{children}</p>
      </div>
    </div>
  )
}
