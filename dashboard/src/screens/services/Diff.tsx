import { Badge, type Tone } from '../../ui/Badge'
import { pluralize } from '../../units'
import { countChanges, isShortened, parseDiff } from './diff'

/** Longer diffs are folded. */
const MAX_OPEN_LINES = 60

interface Props {
  /** The service and the path. */
  name: string
  state: { label: string; tone: Tone }
  diff: string
  /** What else is known about the file. */
  children?: React.ReactNode
}

/** A file with its difference. Added and removed lines differ in colour and in their first character. */
export function FileDiff({ name, state, diff, children }: Props) {
  const lines = parseDiff(diff)
  const { added, removed } = countChanges(lines)
  return (
    <details className="file-diff" open={lines.length <= MAX_OPEN_LINES}>
      <summary>
        <code>{name}</code> <Badge tone={state.tone}>{state.label}</Badge>{' '}
        <span className="muted small">
          {pluralize(added, 'line')} added, {removed} removed
        </span>
      </summary>
      {children && <p className="muted small">{children}</p>}
      {lines.length === 0 ? (
        <p className="muted small">The text is the same.</p>
      ) : (
        <pre className="diff" tabIndex={0} aria-label={`Difference of ${name}`}>
          {lines.map((line, index) => (
            <span key={index} className={`diff-${line.kind}`}>
              {line.text}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
      {isShortened(diff) && <p className="muted small">Only the first 64 KiB are shown.</p>}
    </details>
  )
}
