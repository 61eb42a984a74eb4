import { Link } from '@tanstack/react-router'
import { useDenialReason } from '../../access/Allowed'
import type { Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { Badge, type Tone } from '../../ui/Badge'
import { Facts, Section } from '../../ui/Page'
import { describeReason, formatScore } from '../filtering/words'

type MessageRecord = Schema['MessageResponse']
type Decided = NonNullable<MessageRecord['spam']['decided_by']>

/** The filter's actions as the outcome for the recipient. */
const OUTCOMES: Readonly<Record<string, { label: string; tone: Tone }>> = {
  'no action': { label: 'inbox', tone: 'good' },
  'add header': { label: 'Junk', tone: 'warn' },
  reject: { label: 'refused', tone: 'bad' },
}

/** What the spam filter decided about a received message, and why. */
export function SpamResult({ message }: { message: MessageRecord }) {
  const { score, action, symbols, decided_by: decided } = message.spam
  if (message.direction !== 'inbound' || (score === null && action === null && !decided)) return null
  const outcome = OUTCOMES[action ?? '']
  return (
    <Section title="Spam filter" actions={<WhyLink message={message} />}>
      <Facts
        rows={[
          ['Result', outcome ? <Badge tone={outcome.tone}>{outcome.label}</Badge> : (action ?? 'none')],
          ['Score', score === null ? 'not checked' : formatScore(score)],
          [
            'Reason',
            decided ? (
              <>
                {describeReason(decided, score)}. <RuleLink message={message} decided={decided} />
              </>
            ) : (
              'No threshold was reached, and no list entry matched'
            ),
          ],
          ...(symbols.length ? [['Symbols', <Symbols names={symbols} />] as const] : []),
        ]}
      />
    </Section>
  )
}

function Symbols({ names }: { names: readonly string[] }) {
  return (
    <span className="row row-tight">
      {names.map((name) => (
        <code key={name}>{name}</code>
      ))}
    </span>
  )
}

/** The test of this message with the rules as they are now. */
function WhyLink({ message }: { message: MessageRecord }) {
  const search = { tab: 'filtering', view: 'test', message: message.id }
  if (message.mailbox_id)
    return (
      <Link to={PATHS.mailbox} params={{ id: message.mailbox_id }} search={search}>
        Why?
      </Link>
    )
  if (!message.domain_id) return null
  return (
    <Link to={PATHS.domain} params={{ id: message.domain_id }} search={search}>
      Why?
    </Link>
  )
}

/** The settings or the list with the rule that decided, where the account may see them. */
function RuleLink({ message, decided }: { message: MessageRecord; decided: Decided }) {
  const canOpenServer = useDenialReason('filter_server.read') === null
  const isEntry = decided.rule === 'allow_entry' || decided.rule === 'deny_entry'
  const label = isEntry ? 'Show the list' : 'Show the settings'
  const search = { tab: 'filtering', ...(isEntry && { view: 'list' }) }
  if (decided.scope === 'server')
    return canOpenServer ? (
      <Link to={PATHS.filtering} search={isEntry ? { tab: 'list' } : {}}>
        {label}
      </Link>
    ) : null
  if (decided.scope === 'mailbox')
    return message.mailbox_id ? (
      <Link to={PATHS.mailbox} params={{ id: message.mailbox_id }} search={search}>
        {label}
      </Link>
    ) : null
  return message.domain_id ? (
    <Link to={PATHS.domain} params={{ id: message.domain_id }} search={search}>
      {label}
    </Link>
  ) : null
}
