import { Button, SegmentedControl, Select, Textarea } from '@mantine/core'
import { skipToken, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schema } from '../../../api/client'
import type { MailboxRequests } from '../../../api/mailboxRequests'
import { formatTime } from '../../../ui/Time'
import { ErrorNote } from '../../../ui/ErrorNote'
import { useApiMutation } from '../../../ui/useForm'
import { Section } from '../../../ui/Page'
import { describeAction, formatMessage } from './words'

const PASTED = 'From: Nora <nora@elsewhere.example>\nTo: {address}\nSubject: Hello\n\nHello.\n'

/** Tries the script in the editor with a message of the mailbox's history, or with a pasted one. */
export function TestPanel({ address, requests, script }: { address: string; requests: MailboxRequests; script: string }) {
  const { listMessages } = requests.sieve
  const [source, setSource] = useState<'history' | 'text'>(listMessages ? 'history' : 'text')
  const [messageId, setMessageId] = useState<string | null>(null)
  const [text, setText] = useState(PASTED.replace('{address}', address))
  const history = useQuery({
    queryKey: ['messages', 'of mailbox', requests.id],
    queryFn: listMessages ?? skipToken,
  })
  const chosen = messageId ?? history.data?.[0]?.id ?? null
  const attempt = useApiMutation({
    request: () =>
      requests.sieve.test({ script, recipient: address, ...(source === 'history' ? { message_id: chosen ?? '' } : { message: text }) }),
    invalidates: [],
  })
  return (
    <Section title="Test" lead="What the script above would do with a message. Nothing is delivered or sent.">
      <div className="stack">
        {listMessages && (
          <div>
            <SegmentedControl
              aria-label="Message"
              value={source}
              onChange={(value) => setSource(value as typeof source)}
              data={[
                { value: 'history', label: 'Received message' },
                { value: 'text', label: 'Pasted message' },
              ]}
            />
          </div>
        )}
        {source === 'history' ? (
          <Select
            label="Received message"
            description="Reading it is recorded in the audit log."
            placeholder={history.data?.length === 0 ? 'No messages received yet' : 'Select a message'}
            data={(history.data ?? []).map((row) => ({
              value: row.id,
              label: `${row.subject || '(no subject)'} · ${row.from} · ${formatTime(new Date(row.created_at), 'short')}`,
            }))}
            value={chosen}
            onChange={setMessageId}
            searchable
          />
        ) : (
          <Textarea
            label="Pasted message"
            description="With its header fields, as “View source” of a mail program shows it"
            rows={8}
            classNames={{ input: 'mono' }}
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        <div>
          <Button
            variant="default"
            loading={attempt.isPending}
            disabled={source === 'history' && chosen === null}
            onClick={() => attempt.mutate(undefined)}
          >
            Test script
          </Button>
        </div>
        <div aria-live="polite">
          {attempt.error ? <ErrorNote error={attempt.error} /> : attempt.data && <Result result={attempt.data} />}
        </div>
      </div>
    </Section>
  )
}

function Result({ result }: { result: Schema['ScriptTestResponse'] }) {
  const steps = [
    ...result.actions.map(describeAction),
    ...(result.implicit_keep ? ['Keep the message in the inbox, because nothing else was decided about it'] : []),
  ]
  return (
    <div className={result.ok ? 'note note-good' : 'note note-bad'}>
      <div>
        <p className="note-title">{result.ok ? 'The script would:' : 'The script fails:'}</p>
        <ul className="break">
          {result.errors.map((error, index) => (
            <li key={`error ${index}`}>{formatMessage(error)}</li>
          ))}
          {steps.map((step, index) => (
            <li key={index} className="pre-line">
              {step}
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}
