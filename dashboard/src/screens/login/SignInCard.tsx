import type { ReactNode } from 'react'
import { Icon, Logo } from '../../ui/Icon'
import { ThemeSwitch } from '../../ui/ThemeSwitch'

interface Props {
  title: string
  /** The first link below the form. */
  link: ReactNode
  children: ReactNode
}

/** The frame of a sign-in screen. */
export function SignInCard({ title, link, children }: Props) {
  return (
    <main className="sign-in">
      <title>Sign in · Mailkeep</title>
      <div className="card sign-in-card">
        <header className="sign-in-head">
          <Logo size={40} />
          <h1>{title}</h1>
        </header>
        {!window.isSecureContext && (
          <Warning>
            This page was loaded over plain HTTP, so the browser rejects the session cookie. Use HTTPS, or open it at localhost on the
            server.
          </Warning>
        )}
        {children}
        <div className="between small">
          {link}
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
