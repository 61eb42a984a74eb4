import { queryOptions, useQueries, useQuery } from '@tanstack/react-query'
import { fetchData, fetchPage, client } from '../../api/client'
import { versionQuery } from '../../api/queries'
import { PATHS, type ScreenName } from '../../paths'
import { type Action, denialReason } from '../../access/policy'
import { useAccount } from '../../access/account'
import { DnsStepButton, DnsStepText, firstDomainQuery, isDnsDone, useDnsStep } from './DnsStep'
import { Badge } from '../../ui/Badge'
import { Icon } from '../../ui/Icon'
import { LinkButton } from '../../ui/links'
import { Page } from '../../ui/Page'
import { LoadingLines } from '../../ui/DataList'
import { useReady } from '../../ui/useReady'

interface Step {
  title: string
  text: string
  to: ScreenName
  search?: Record<string, string>
  button: string
  action: Action
  /** Its state and its button come from the API. */
  isDns?: boolean
}

const STEPS: readonly Step[] = [
  {
    title: 'Add a domain',
    text: 'The part after the @ of your addresses. Mailkeep creates its DKIM key.',
    to: 'domains',
    search: { new: 'yes' },
    button: 'New domain',
    action: 'domain.create',
  },
  {
    title: 'Publish the DNS records',
    text: 'They bring mail to this server, and let receivers trust its mail.',
    to: 'domains',
    button: 'View records',
    action: 'dns.read',
    isDns: true,
  },
  {
    title: 'Create a mailbox',
    text: 'An address that receives mail, with its own password.',
    to: 'mailboxes',
    search: { new: 'yes' },
    button: 'New mailbox',
    action: 'mailbox.write',
  },
  {
    title: 'Create an API key',
    text: 'Your applications use it to send. You can limit it to some domains.',
    to: 'keys',
    search: { new: 'yes' },
    button: 'New API key',
    action: 'api_key.write',
  },
  {
    title: 'Send a message',
    text: 'To any address.',
    to: 'send',
    button: 'Send a message',
    action: 'send',
  },
]

/** Whether any message was sent, other than the mail of Mailkeep itself. */
export function sentQuery() {
  return queryOptions({
    queryKey: ['messages', 'any'],
    queryFn: async () =>
      (await fetchPage(client.GET('/messages', { params: { query: { limit: 50, direction: 'outbound' } } }))).rows.some(
        (message) => message.source !== 'mailkeep',
      ),
  })
}

/**
 * Which steps are complete; null while loading. The embedded profile is mostly used for development: there the DNS records
 * are not needed to complete the steps (`isOptional`).
 */
export function useSteps(): { isPending: boolean; areComplete: readonly (boolean | null)[]; isOptional: (index: number) => boolean } {
  const isEmbedded = useQuery(versionQuery()).data?.profile === 'embedded'
  const query = { limit: 1 } as const
  const results = useQueries({
    queries: [
      {
        queryKey: ['domains', 'any'],
        queryFn: async () => (await fetchPage(client.GET('/domains', { params: { query } }))).rows.length > 0,
      },
      { ...firstDomainQuery(), select: (domain: Awaited<ReturnType<ReturnType<typeof firstDomainQuery>['queryFn']>>) => isDnsDone(domain) },
      {
        queryKey: ['mailboxes', 'any'],
        queryFn: async () => (await fetchPage(client.GET('/mailboxes', { params: { query } }))).rows.length > 0,
      },
      { queryKey: ['keys', 'any'], queryFn: async () => (await fetchData(client.GET('/api-keys'))).length > 0 },
      sentQuery(),
    ],
  })
  return {
    isPending: results.some((each) => each.isPending),
    areComplete: results.map((each) => each.data ?? null),
    isOptional: (index) => isEmbedded && STEPS[index]?.isDns === true,
  }
}

export function FirstSteps() {
  const account = useAccount()
  const isEmbedded = useQuery(versionQuery()).data?.profile === 'embedded'
  const { isPending, areComplete, isOptional } = useSteps()
  const dns = useDnsStep()
  // Texts and buttons depend on all of it: nothing moves later.
  const isReady = useReady(!isPending && !dns.isPending)
  const next = areComplete.findIndex((each, index) => each === false && !isOptional(index))
  const isAllComplete = areComplete.every((each, index) => each === true || isOptional(index))
  return (
    <Page title="First steps" lead={isAllComplete ? 'All steps are complete.' : 'From an empty server to a delivered message.'}>
      {isReady ? (
        <ol className="guide">
          {STEPS.map((step, index) => (
            <li
              key={step.title}
              className="card"
              aria-current={index === next ? 'step' : undefined}
              data-done={areComplete[index] ?? undefined}
            >
              <span className="guide-mark">{areComplete[index] ? <Icon name="check" /> : index + 1}</span>
              <div className="guide-text">
                <h2>
                  {step.title} {areComplete[index] ? <Badge tone="good">done</Badge> : isOptional(index) && <Badge>optional</Badge>}
                </h2>
                <p className="muted">
                  {step.text}
                  {step.isDns && <DnsStepText />}
                  {step.action === 'send' &&
                    isEmbedded &&
                    " By default (mta.mode = sandbox), the sandbox captures it and external recipients don't receive it."}
                </p>
              </div>
              {denialReason(account, step.action) ? (
                !areComplete[index] && <span className="muted small">Ask an administrator.</span>
              ) : step.isDns ? (
                <DnsStepButton variant={index === next ? 'filled' : 'default'} />
              ) : (
                <LinkButton to={PATHS[step.to]} search={step.search ?? {}} variant={index === next ? 'filled' : 'default'}>
                  {step.button}
                </LinkButton>
              )}
            </li>
          ))}
        </ol>
      ) : (
        <LoadingLines count={8} />
      )}
    </Page>
  )
}
