import { TextInput } from '@mantine/core'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { PATHS } from '../paths'
import { useTyped } from '../search'
import { Badge, type Tone } from '../ui/Badge'
import { Lines } from '../ui/DataList'
import { Empty } from '../ui/Empty'
import { ErrorNote } from '../ui/ErrorNote'
import { Icon } from '../ui/Icon'
import { Page, Section } from '../ui/Page'

type Explanation = Schema['RouteExplanationRecord']

const route = getRouteApi('/inside/routing')

/** Words for a decision, and what SMTP answers to it. */
const DECISIONS: Readonly<Record<string, { tone: Tone; says: string }>> = {
  deliver: { tone: 'good', says: 'is delivered' },
  unknown_user: { tone: 'bad', says: 'is refused: nobody has this address (550 5.1.1)' },
  mailbox_inactive: { tone: 'bad', says: 'is refused: its mailbox is not active (550 5.2.1)' },
  receiving_disabled: { tone: 'bad', says: 'is refused: the domain takes no mail (550 5.7.1)' },
  domain_inactive: { tone: 'warn', says: 'is put off: a domain on its way is not active (450)' },
  not_managed: { tone: 'warn', says: 'is not ours: the domain is not managed here, and nothing is relayed (554 5.7.1)' },
}

const STEPS: Readonly<Record<string, string>> = {
  domain: 'Is the domain managed here?',
  mailbox: 'Is there a mailbox?',
  alias: 'Is there an alias?',
  plus: 'And without the tag?',
  catch_all: 'Does the domain catch all?',
  forward: 'Does the mailbox forward?',
  reject: 'Refused',
}

function explainQuery(address: string) {
  return queryOptions({
    queryKey: ['routing', address],
    queryFn: () => ask(client.GET('/routing/explain', { params: { query: { address } } })),
    enabled: isAddress(address),
    staleTime: 0,
    retry: false,
  })
}

function isAddress(text: string): boolean {
  return /^[^\s]+@[^\s@]+$/.test(text)
}

export function Routing() {
  const { address: asked = '' } = route.useSearch()
  const [typed, setTyped] = useTyped('address', 180)
  const { data, error, isPlaceholderData } = useQuery({ ...explainQuery(asked), placeholderData: keepPreviousData })
  const isAsked = isAddress(asked)
  // Who is still typing is not corrected.
  const [isTyping, setTyping] = useState(false)
  const fault = asked && !isAsked && !isTyping && typed.trim() === asked ? `“${asked}” is not an address. Write it as name@domain, such as sales@example.com.` : null
  return (
    <Page title="Where mail goes" lead="Type an address: the very rules that take mail at the door say where it would go.">
      <TextInput
        aria-label="Where would mail for this address go?"
        label="Where would mail for … go?"
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
        error={Boolean(fault)}
        aria-invalid={Boolean(fault)}
        autoComplete="off"
        spellCheck={false}
        data-main-search
      />
      <div aria-live="polite">
        {fault ? (
          <div className="note note-bad" role="alert">
            <Icon name="warn" />
            <div>
              <p className="note-title">{fault}</p>
            </div>
          </div>
        ) : error && isAsked ? (
          <ErrorNote error={error} />
        ) : isAsked && data ? (
          <div className="stack" aria-busy={isPlaceholderData}>
            <Answer address={asked} found={data} />
          </div>
        ) : isAsked ? (
          <Lines />
        ) : (
          <div className="card">
            <Empty icon="route" title="Nothing asked yet">
              Mailboxes come first, then aliases, then the same without a +tag, then the catch-all. Each step is shown with the row that decided it.
            </Empty>
          </div>
        )}
      </div>
    </Page>
  )
}

function Answer({ address, found }: { address: string; found: Explanation }) {
  const decision = DECISIONS[found.decision]
  return (
    <>
      <Section title="The answer">
        <p>
          Mail for <strong className="break">{address}</strong> {decision?.says ?? found.decision} <Badge tone={decision?.tone ?? 'calm'}>{found.decision.replaceAll('_', ' ')}</Badge>
        </p>
        {found.deliveries.length > 0 && (
          <ul className="stack-small">
            {found.deliveries.map((delivery) => (
              <li key={`${delivery.type} ${delivery.address}`} className="row">
                <Icon name={delivery.type === 'mailbox' ? 'inbox' : 'send'} size={16} />
                {delivery.mailbox_id ? (
                  <Link to={PATHS.mailbox} params={{ id: delivery.mailbox_id }}>
                    {delivery.address}
                  </Link>
                ) : (
                  <span className="break">{delivery.address}</span>
                )}
                <span className="soft">{delivery.type === 'mailbox' ? 'a mailbox here' : 'elsewhere'}</span>
              </li>
            ))}
          </ul>
        )}
        {found.warnings.map((warning) => (
          <div className="note note-warn" key={warning}>
            <Icon name="warn" />
            <div>
              <p>{warning}</p>
            </div>
          </div>
        ))}
      </Section>
      <Section title="How it was found">
        <ol className="steps">
          {found.steps.map((step, index) => (
            <li key={index}>
              <span className="strong">{STEPS[step.step] ?? step.step}</span>
              <span className="break">
                <code>{step.address}</code> <Badge tone={step.result === 'match' || step.result === 'found' ? 'good' : 'calm'}>{step.result.replaceAll('_', ' ')}</Badge>
              </span>
              {step.row && <RowOf row={step.row} />}
            </li>
          ))}
        </ol>
      </Section>
    </>
  )
}

function RowOf({ row }: { row: Readonly<Record<string, unknown>> }) {
  return (
    <span className="soft small break">
      {Object.entries(row)
        .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(' · ')}
    </span>
  )
}

/** Where one address leads, in a line. */
export function Destination({ address }: { address: string }) {
  const { data, error } = useQuery(explainQuery(address))
  return (
    <p className="break">
      <code>{address}</code> → {lineOf(address, data, error)}
    </p>
  )
}

function lineOf(address: string, data: Explanation | undefined, error: Error | null): string {
  if (!isAddress(address)) return 'not an address yet'
  if (error) return error.message
  if (!data) return '…'
  if (data.decision === 'not_managed') return 'elsewhere, as it stands'
  if (data.deliveries.length > 0) return data.deliveries.map((delivery) => delivery.address).join(', ')
  return (DECISIONS[data.decision]?.says ?? data.decision).replace(/^is /, '')
}
