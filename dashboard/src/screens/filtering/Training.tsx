import { Progress } from '@mantine/core'
import type { FilterSettings } from '../../api/filteringRequests'
import { formatNumber } from '../../locale'
import { Badge } from '../../ui/Badge'
import { Section } from '../../ui/Page'
import { describeLessons, describeTraining } from './words'

/** What the filter has learned: one for the whole server. */
export function Training({ training }: Pick<FilterSettings, 'training'>) {
  const { badge, tone, text } = describeTraining(training)
  const counts = [
    ['Spam', training.spam_learned],
    ['Wanted mail', training.ham_learned],
  ] as const
  return (
    <Section title="Training" lead="The filter learns from all mailboxes of this server together.">
      <div className="stack">
        <p>
          <Badge tone={tone}>{badge}</Badge> {text}
        </p>
        {training.lessons && <p className="muted">{describeLessons(training.lessons)}</p>}
        {training.state === 'collecting' && (
          <div className="pair">
            {counts.map(([label, count]) => (
              <div key={label} className="stack-small">
                <span className="small">
                  {label}: {formatNumber(count)} of {formatNumber(training.required)}
                </span>
                <Progress value={Math.min(100, (count / training.required) * 100)} aria-label={label} />
              </div>
            ))}
          </div>
        )}
      </div>
    </Section>
  )
}
