import { Button, NumberInput, SegmentedControl, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { FilteringRequests, TestBody, TestResult } from '../../api/filteringRequests'
import { useSearchParams } from '../../search'
import { Badge } from '../../ui/Badge'
import { ErrorNote } from '../../ui/ErrorNote'
import { Form } from '../../ui/Form'
import { Section } from '../../ui/Page'
import { formatTime } from '../../ui/Time'
import { useApiMutation, useForm } from '../../ui/useForm'
import { ACTIONS, AUTH_RESULTS, PHASES } from './testWords'

const EMPTY = { mail_from: '', from: '', client_address: '', score: '' as number | string, spf: '', dkim: '', dmarc: '' }
type Values = typeof EMPTY

/** What the filter decides about a message, step by step. The query parameter `message` is one of the history. */
export function TestMessage({ requests }: { requests: FilteringRequests }) {
  const [params, change] = useSearchParams()
  const message = params['message']
  const isPicked = message !== undefined || params['source'] === 'history'
  const test = useApiMutation({ request: requests.test, invalidates: [] })
  const form = useForm<Values>(EMPTY, test.error)
  const { mutate } = test
  useEffect(() => {
    if (message) mutate({ message_id: message })
  }, [message, mutate])
  function choose(source: string) {
    test.reset()
    change({ source: source === 'history' ? 'history' : undefined, message: undefined })
  }
  return (
    <>
      <Section title="Test a message" lead="What the filter decides about a message, and why. Nothing is delivered, and no hit is counted.">
        <div className="stack">
          <div>
            <SegmentedControl
              aria-label="Message"
              value={isPicked ? 'history' : 'form'}
              onChange={choose}
              data={[
                { value: 'form', label: 'Describe it' },
                { value: 'history', label: 'Received mail' },
              ]}
            />
          </div>
          {isPicked ? (
            <PickMessage
              requests={requests}
              value={message ?? null}
              onChange={(id) => change({ message: id, source: undefined })}
              error={test.error}
            />
          ) : (
            <DescribeMessage form={form} isPending={test.isPending} error={test.error} onSubmit={() => mutate(toBody(form.values))} />
          )}
        </div>
      </Section>
      <div aria-live="polite">{test.data && <Result result={test.data} />}</div>
    </>
  )
}

function toBody({ mail_from, from, client_address, score, spf, dkim, dmarc }: Values): TestBody {
  return {
    ...(mail_from.trim() && { mail_from: mail_from.trim() }),
    ...(from.trim() && { from: from.trim() }),
    ...(client_address.trim() && { client_address: client_address.trim() }),
    ...(score !== '' && { score: Number(score) }),
    ...((spf || dkim || dmarc) && { auth: { ...(spf && { spf }), ...(dkim && { dkim }), ...(dmarc && { dmarc }) } }),
  }
}

interface PickProps {
  requests: FilteringRequests
  value: string | null
  onChange: (id: string) => void
  error: unknown
}

function PickMessage({ requests, value, onChange, error }: PickProps) {
  const { data } = useQuery({ queryKey: ['filtering', requests.id, 'messages'], queryFn: requests.listMessages })
  const listed = (data ?? []).map((row) => ({
    value: row.id,
    label: `${row.subject || '(no subject)'} · ${row.from || '(empty sender)'} · ${formatTime(new Date(row.created_at), 'short')}`,
  }))
  // A message that a link names may be older.
  const choices = value && data && !listed.some((each) => each.value === value) ? [{ value, label: `Message ${value}` }, ...listed] : listed
  return (
    <>
      <Select
        name="message"
        label="Received message"
        description="Its result with the settings and lists as they are now"
        placeholder={data?.length === 0 ? 'No messages received yet' : 'Select a message'}
        data={choices}
        value={value}
        onChange={(id) => id && onChange(id)}
        allowDeselect={false}
        searchable
      />
      <ErrorNote error={error} />
    </>
  )
}

interface DescribeProps {
  form: ReturnType<typeof useForm<Values>>
  isPending: boolean
  error: unknown
  onSubmit: () => void
}

function DescribeMessage({ form, isPending, error, onSubmit }: DescribeProps) {
  const results = AUTH_RESULTS.map((value) => ({ value, label: value }))
  return (
    <Form
      onSubmit={onSubmit}
      error={error}
      formFields={[...form.names, 'auth.spf', 'auth.dkim', 'auth.dmarc']}
      actions={
        <Button type="submit" loading={isPending}>
          Test
        </Button>
      }
    >
      <div className="pair">
        <TextInput
          name="from"
          label="Author"
          description="The address in From"
          placeholder="news@example.net"
          autoComplete="off"
          spellCheck={false}
          {...form.textField('from')}
        />
        <TextInput
          name="mail_from"
          label="Envelope sender"
          description="In MAIL FROM; blank = a bounce"
          placeholder="bounces@example.net"
          autoComplete="off"
          spellCheck={false}
          {...form.textField('mail_from')}
        />
      </div>
      <div className="pair">
        <TextInput
          name="client_address"
          label="Client address"
          description="Of the server that delivers it"
          placeholder="192.0.2.1"
          autoComplete="off"
          spellCheck={false}
          {...form.textField('client_address')}
        />
        <NumberInput name="score" label="Spam score" description="Blank = not checked" decimalScale={2} {...form.field('score')} />
      </div>
      <div className="triple">
        {(['spf', 'dkim', 'dmarc'] as const).map((name) => (
          <Select
            key={name}
            name={name}
            label={name.toUpperCase()}
            placeholder="none"
            data={results}
            clearable
            clearButtonProps={{ 'aria-label': `Clear ${name.toUpperCase()}` }}
            value={form.values[name] || null}
            onChange={(value) => form.set(name, value ?? '')}
            error={form.errorOf(`auth.${name}`)}
          />
        ))}
      </div>
    </Form>
  )
}

function Result({ result }: { result: TestResult }) {
  const { title, tone } = ACTIONS[result.action]
  return (
    <Section title="Result">
      <div className="stack">
        <p>
          <Badge tone={tone}>{title}</Badge> {PHASES[result.at]}
        </p>
        <ol className="steps steps-numbered">
          {result.steps.map((step, index) => (
            <li key={index} className={step.is_deciding ? 'step-deciding' : undefined}>
              <span className="break">
                <span className="strong">{step.step}</span> {step.is_deciding && <Badge tone={tone}>decides</Badge>}
              </span>
              <span className="muted break">{step.result}</span>
            </li>
          ))}
        </ol>
      </div>
    </Section>
  )
}
