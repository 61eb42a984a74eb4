import { TextInput } from '@mantine/core'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { useTextParam } from '../../search'
import { Badge, type Tone } from '../../ui/Badge'
import { LoadingLines } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Page, Section } from '../../ui/Page'

type Explanation = Schema['RouteExplanationRecord']

const route = getRouteApi('/app/routing')

/** The text of each decision with its SMTP reply. */
const DECISIONS: Readonly<Record<string, { tone: Tone; text: string }>> = {
  deliver: { tone: 'good', text: 'is delivered' },
  unknown_user: { tone: 'bad', text: 'is rejected: the address does not exist (550 5.1.1)' },
  mailbox_inactive: { tone: 'bad', text: 'is rejected: the mailbox is inactive (550 5.2.1)' },
  receiving_disabled: { tone: 'bad', text: 'is rejected: receiving is disabled for the domain (550 5.7.1)' },
  domain_inactive: { tone: 'warn', text: 'is deferred: a domain on its route is inactive (450)' },
  no_administrator: { tone: 'warn', text: 'is deferred: no administrator has an address that receives mail (451 4.3.5)' },
  expansion_limit: { tone: 'bad', text: 'is rejected: the address has too many external destinations (550 5.7.1)' },
  too_many_destinations: { tone: 'bad', text: 'is rejected: the address has too many destinations (550 5.7.1)' },
  not_managed: { tone: 'warn', text: 'is rejected: the domain is not hosted here (554 5.7.1)' },
}

const STEPS: Readonly<Record<string, string>> = {
  domain: 'Domain',
  mailbox: 'Mailbox',
  alias: 'Alias',
  plus: 'Address without the tag',
  catch_all: 'Catch-all',
  forward: 'Forwarding',
  postmaster: 'Administrators (postmaster and abuse)',
  reject: 'Not delivered',
}

/** The results of the steps that are not clear by themselves. */
const RESULTS: Readonly<Record<string, string>> = {
  managed: 'hosted here',
  not_managed: 'not hosted here',
  server: "this server's host name",
  stripped: 'tag removed',
  no_copy: 'no copy kept',
  domain_inactive: 'domain inactive',
  receiving_disabled: 'receiving disabled for the domain',
  no_administrator: 'no administrator receives mail',
  expansion_limit: 'too many external destinations',
  unknown_user: 'address does not exist',
}

const ROW_LABELS: Readonly<Record<string, string>> = { id: 'ID', name: 'domain', address: 'address', destinations: 'destinations' }

function explainQuery(address: string) {
  return queryOptions({
    queryKey: ['routing', address],
    queryFn: () => fetchData(client.GET('/routing/explain', { params: { query: { address } } })),
    enabled: isAddress(address),
    staleTime: 0,
    retry: false,
  })
}

function isAddress(text: string): boolean {
  return /^[^\s]+@[^\s@]+$/.test(text)
}

export function Routing() {
  const { address = '' } = route.useSearch()
  const [typed, setTyped] = useTextParam('address', 180)
  const { data, error, isPlaceholderData } = useQuery({ ...explainQuery(address), placeholderData: keepPreviousData })
  const isValid = isAddress(address)
  // No error while the user is still typing.
  const [isTyping, setTyping] = useState(false)
  const invalid =
    address && !isValid && !isTyping && typed.trim() === address
      ? `“${address}” is not an address. Enter it as name@domain, for example sales@example.com.`
      : null
  return (
    <Page title="Routing" lead="See where mail for an address is delivered, with the rules of the mail server.">
      <TextInput
        aria-label="Address"
        label="Address"
        placeholder="sales+autumn@example.com"
        size="md"
        leftSection={<Icon name="route" />}
        value={typed}
        onChange={(event) => {
          setTyping(true)
          setTyped(event.currentTarget.value)
        }}
        onBlur={() => setTyping(false)}
        onKeyDown={(event) => event.key === 'Enter' && setTyping(false)}
        error={Boolean(invalid)}
        aria-invalid={Boolean(invalid)}
        autoComplete="off"
        spellCheck={false}
        data-main-search
      />
      <div aria-live="polite">
        {invalid ? (
          <div className="note note-bad" role="alert">
            <Icon name="warn" />
            <div>
              <p className="note-title">{invalid}</p>
            </div>
          </div>
        ) : error && isValid ? (
          <ErrorNote error={error} />
        ) : isValid && data ? (
          <div className="stack" aria-busy={isPlaceholderData}>
            <Result address={address} explanation={data} />
          </div>
        ) : isValid ? (
          <LoadingLines />
        ) : (
          <div className="card">
            <EmptyState icon="route" title="No address entered">
              Enter an address to see each routing step and the record that decided it.
            </EmptyState>
          </div>
        )}
      </div>
    </Page>
  )
}

function Result({ address, explanation }: { address: string; explanation: Explanation }) {
  const decision = DECISIONS[explanation.decision]
  return (
    <>
      <Section title="Result">
        <p>
          Mail for <strong className="break">{address}</strong> {decision?.text ?? explanation.decision}{' '}
          <Badge tone={decision?.tone ?? 'calm'}>{explanation.decision.replaceAll('_', ' ')}</Badge>
        </p>
        {explanation.deliveries.length > 0 && (
          <ul className="stack-small">
            {explanation.deliveries.map((delivery) => (
              <li key={`${delivery.type} ${delivery.address}`} className="row">
                <Icon name={delivery.type === 'mailbox' ? 'inbox' : 'send'} size={16} />
                {delivery.mailbox_id ? (
                  <Link to={PATHS.mailbox} params={{ id: delivery.mailbox_id }}>
                    {delivery.address}
                  </Link>
                ) : (
                  <span className="break">{delivery.address}</span>
                )}
                <span className="muted">{delivery.type === 'mailbox' ? 'mailbox' : 'external'}</span>
              </li>
            ))}
          </ul>
        )}
        {explanation.warnings.map((warning) => (
          <div className="note note-warn" key={warning}>
            <Icon name="warn" />
            <div>
              <p>{warning}</p>
            </div>
          </div>
        ))}
      </Section>
      <Section title="Steps">
        <ol className="steps">
          {explanation.steps.map((step, index) => (
            <li key={index}>
              <span className="strong">{STEPS[step.step] ?? step.step}</span>
              <span className="break">
                <code>{step.address}</code>{' '}
                <Badge tone={step.result === 'match' ? 'good' : 'calm'}>{RESULTS[step.result] ?? step.result.replaceAll('_', ' ')}</Badge>
              </span>
              {step.row && <StepRow row={step.row} />}
            </li>
          ))}
        </ol>
      </Section>
    </>
  )
}

function StepRow({ row }: { row: Readonly<Record<string, unknown>> }) {
  return (
    <span className="muted small break">
      Matching record:{' '}
      {Object.entries(row)
        .map(([name, value]) => `${ROW_LABELS[name] ?? name} ${Array.isArray(value) ? value.join(', ') : String(value)}`)
        .join(' · ')}
    </span>
  )
}

/** The routing of one address in one line. */
export function Destination({ address }: { address: string }) {
  const { data, error } = useQuery(explainQuery(address))
  return (
    <p className="break">
      <code>{address}</code> → {describeRoute(address, data, error)}
    </p>
  )
}

function describeRoute(address: string, data: Explanation | undefined, error: Error | null): string {
  if (!isAddress(address)) return 'not a valid address'
  if (error) return error.message
  if (!data) return '…'
  if (data.decision === 'not_managed') return 'external address'
  if (data.deliveries.length > 0) return data.deliveries.map((delivery) => delivery.address).join(', ')
  return (DECISIONS[data.decision]?.text ?? data.decision).replace(/^is /, '')
}
