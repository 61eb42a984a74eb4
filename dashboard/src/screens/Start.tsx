import { queryOptions, useQueries } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ask, askPage, client } from '../api/client'
import { PATHS, type ScreenName } from '../paths'
import { type Action, barred } from '../policy'
import { useAccount } from '../ui/Allowed'
import { Badge } from '../ui/Badge'
import { Icon } from '../ui/Icon'
import { LinkButton } from '../ui/links'
import { Page } from '../ui/Page'

interface Step {
  title: string
  text: ReactNode
  to: ScreenName
  search?: Record<string, string>
  does: string
  action: Action
}

const STEPS: readonly Step[] = [
  { title: 'Add a domain', text: 'What stands after the @ of your addresses. Mailkeep makes its DKIM key at once.', to: 'domains', search: { new: 'yes' }, does: 'New domain', action: 'domain.create' },
  { title: 'Make a mailbox', text: 'Somebody who gets mail, with a password of their own.', to: 'mailboxes', search: { new: 'yes' }, does: 'New mailbox', action: 'mailbox.write' },
  { title: 'Make an API key', text: 'What your programs send with. It can be held to single domains.', to: 'keys', search: { new: 'yes' }, does: 'New key', action: 'api_key.write' },
  { title: 'Send the first message', text: 'To anybody. In the sandbox nothing leaves the machine, and you see what would have.', to: 'send', does: 'Write it', action: 'send' },
]

/** Whether anything was ever sent. */
export function sentQuery() {
  return queryOptions({
    queryKey: ['messages', 'any'],
    queryFn: async () => (await askPage(client.GET('/messages', { params: { query: { limit: 1, direction: 'outbound' } } }))).rows.length > 0,
  })
}

/** Which of the steps are done, as the API tells; null while it is not known. */
export function useSteps(): readonly (boolean | null)[] {
  const one = { limit: 1 } as const
  const found = useQueries({
    queries: [
      { queryKey: ['domains', 'any'], queryFn: async () => (await askPage(client.GET('/domains', { params: { query: one } }))).rows.length > 0 },
      { queryKey: ['mailboxes', 'any'], queryFn: async () => (await askPage(client.GET('/mailboxes', { params: { query: one } }))).rows.length > 0 },
      { queryKey: ['keys', 'any'], queryFn: async () => (await ask(client.GET('/api-keys'))).length > 0 },
      sentQuery(),
    ],
  })
  return found.map((each) => each.data ?? null)
}

export function Start() {
  const account = useAccount()
  const done = useSteps()
  const next = done.indexOf(false)
  const isAll = done.every((each) => each === true)
  return (
    <Page title="First steps" lead={isAll ? 'All done: mail flows.' : 'From nothing to a delivered message. Each step ticks itself off.'}>
      <ol className="guide">
        {STEPS.map((step, index) => (
          <li key={step.title} className="card" aria-current={index === next ? 'step' : undefined} data-done={done[index] ?? undefined}>
            <span className="guide-mark">{done[index] ? <Icon name="check" /> : index + 1}</span>
            <div className="guide-text">
              <h2>
                {step.title} {done[index] && <Badge tone="good">done</Badge>}
              </h2>
              <p className="soft">{step.text}</p>
            </div>
            {barred(account, step.action) ? (
              !done[index] && <span className="soft small">An administrator does this.</span>
            ) : (
              <LinkButton to={PATHS[step.to]} search={step.search ?? {}} variant={index === next ? 'filled' : 'default'}>
                {step.does}
              </LinkButton>
            )}
          </li>
        ))}
      </ol>
    </Page>
  )
}
