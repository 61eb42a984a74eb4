import { TextInput } from '@mantine/core'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { useTextParam } from '../../search'
import { Badge } from '../../ui/Badge'
import { LoadingLines } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Page, Section } from '../../ui/Page'
import { describeDecision, describeResult, describeRow, describeStep } from './explanation'

type Explanation = Schema['RouteExplanationRecord']

const route = getRouteApi('/app/routing')

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

const DELIVERY_TYPES: Readonly<Record<string, string>> = {
  mailbox: 'mailbox',
  external: 'external',
  report: 'read as a report of another server',
}

export function Routing() {
  const { address = '' } = route.useSearch()
  const [text, setText] = useTextParam('address', 180)
  const { data, error, isPlaceholderData } = useQuery({ ...explainQuery(address), placeholderData: keepPreviousData })
  const isValid = isAddress(address)
  // No error while the user is still typing.
  const [isTyping, setTyping] = useState(false)
  const invalid =
    address && !isValid && !isTyping && text.trim() === address
      ? `“${address}” is not an address. Enter it as name@domain, for example sales@example.com.`
      : null
  return (
    <Page title="Routing" lead="See where mail for an address is delivered, and why.">
      <TextInput
        aria-label="Address"
        label="Address"
        placeholder="sales+autumn@example.com"
        size="md"
        leftSection={<Icon name="route" />}
        value={text}
        onChange={(event) => {
          setTyping(true)
          setText(event.currentTarget.value)
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
  return (
    <>
      <Section title="Result">
        <p>
          Mail for <strong className="break">{address}</strong> {describeDecision(explanation.decision)}
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
                <span className="muted">{DELIVERY_TYPES[delivery.type] ?? delivery.type}</span>
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
              <span className="strong">{describeStep(step.step)}</span>
              <span className="break">
                <code>{step.address}</code> <Badge tone={step.result === 'match' ? 'good' : 'calm'}>{describeResult(step.result)}</Badge>
              </span>
              {step.row && <span className="muted small break">Matching record: {describeRow(step.row)}</span>}
            </li>
          ))}
        </ol>
      </Section>
    </>
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
  return describeDecision(data.decision).replace(/^is /, '')
}
