import type { FilterSettings } from '../../api/filteringRequests'
import { describeOutcome, describeConsequence, type Outcome, thresholdOf, type Values } from './values'

const PLACES: readonly { place: keyof Outcome; label: string }[] = [
  { place: 'inbox', label: 'Inbox' },
  { place: 'junk', label: 'Junk' },
  { place: 'refused', label: 'Refused' },
]

/** Which scores go where, now and once the form is saved. */
export function Outcomes({ values, saved }: { values: Values; saved: FilterSettings }) {
  const { junk_score, reject_score } = saved.effective
  const now = describeOutcome(junk_score.value, reject_score.value)
  const refusal = thresholdOf('reject_score', values, saved)
  const next = describeOutcome(thresholdOf('junk_score', values, saved), refusal)
  return (
    <div className="stack-small" aria-live="polite">
      <table className="outcomes" aria-label="Which scores go where">
        <thead>
          <tr>
            <th scope="col">Goes to</th>
            <th scope="col">Now</th>
            <th scope="col">After saving</th>
          </tr>
        </thead>
        <tbody>
          {PLACES.map(({ place, label }) => (
            <tr key={place}>
              <th scope="row">{label}</th>
              <td>{now[place]}</td>
              <td className={now[place] === next[place] ? 'muted' : 'strong'}>{next[place]}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="small">{describeConsequence(reject_score.value, refusal)}</p>
    </div>
  )
}
