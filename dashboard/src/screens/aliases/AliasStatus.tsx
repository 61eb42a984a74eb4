import type { Schema } from '../../api/client'
import { Badge, type Tone } from '../../ui/Badge'
import { Icon } from '../../ui/Icon'

type Alias = Schema['AliasRecord']
type State = NonNullable<Alias['status']>['state']

const BADGES: Readonly<Record<State, readonly [Tone, string]>> = {
  ok: ['good', 'active'],
  partial: ['warn', 'partly delivered'],
  nowhere: ['bad', 'leads nowhere'],
  unused: ['warn', 'not used'],
  inactive: ['warn', 'inactive'],
  domain_inactive: ['warn', 'domain inactive'],
  receiving_disabled: ['warn', 'receiving disabled'],
}

/** The state of an alias, with the reason why its mail does not arrive. */
export function AliasState({ alias }: { alias: Alias }) {
  const { status } = alias
  const [tone, label] = BADGES[status?.state ?? (alias.active ? 'ok' : 'inactive')]
  return (
    <div className="reason">
      <Badge tone={tone}>{label}</Badge>
      {status?.text && status.state !== 'inactive' && <div className="muted small break">{status.text}</div>}
    </div>
  )
}

/** Why mail for an alias does not arrive; nothing if it does. */
export function AliasProblems({ alias }: { alias: Schema['AliasDetail'] }) {
  if (!alias.status || alias.status.state === 'ok') return null
  const isAboutDestinations = alias.status.state === 'partial' || alias.status.state === 'nowhere'
  const texts = isAboutDestinations && alias.warnings.length > 0 ? alias.warnings : [alias.status.text]
  return (
    <div className="note note-warn">
      <Icon name="warn" />
      <div>
        {texts.map((text) => (
          <p key={text}>{text}</p>
        ))}
      </div>
    </div>
  )
}
