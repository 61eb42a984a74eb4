import { explain, fieldFaults } from '../api/errors'
import { Copy } from './Copy'
import { Icon } from './Icon'

/** Once, as it appears. */
function reveal(note: HTMLElement | null): void {
  note?.scrollIntoView({ block: 'nearest' })
}

/**
 * What went wrong, in words, with the id of the request to ask about. `besides`: fields that show their own faults;
 * where these are all that is wrong, nothing more is said here but that.
 */
export function ErrorNote({ error, besides = [] }: { error: unknown; besides?: readonly string[] }) {
  if (!error) return null
  const { message, advice, code, requestId } = explain(error)
  const faults = Object.entries(fieldFaults(error))
  const elsewhere = faults.filter(([name]) => !besides.includes(name))
  const isMarked = faults.length > 0 && elsewhere.length === 0
  return (
    <div className="note note-bad" role="alert" ref={reveal}>
      <Icon name="warn" />
      <div>
        <p className="note-title">{isMarked ? 'The fields that are marked need another look.' : message}</p>
        {elsewhere.length > 0 && (
          <ul>
            {elsewhere.map(([name, reason]) => (
              <li key={name}>
                <code>{name}</code>: {reason}
              </li>
            ))}
          </ul>
        )}
        {advice && <p>{advice}</p>}
        <p className="note-small">
          <code>{code}</code>
          {requestId && (
            <>
              {' · request '}
              <code>{requestId}</code> <Copy text={requestId} what="request id" />
            </>
          )}
        </p>
      </div>
    </div>
  )
}
