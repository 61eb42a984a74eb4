import { explain, fieldFaults } from '../api/errors'
import { Copy } from './Copy'
import { Icon } from './Icon'

/** Characters that are seen of an error below its field on a phone. */
const LINE = 45

function named(field: string): string {
  return field.replaceAll('_', ' ')
}

/**
 * What went wrong, in words, with the ID of the request to ask about. `besides`: fields that show their own errors; of
 * these only what is too long for the line below the field is repeated here.
 */
export function ErrorNote({ error, besides = [] }: { error: unknown; besides?: readonly string[] }) {
  if (!error) return null
  const { message, advice, code, requestId } = explain(error)
  const faults = Object.entries(fieldFaults(error))
  const isMarked = faults.length > 0 && faults.every(([name]) => besides.includes(name))
  const listed = faults.filter(([name, reason]) => !besides.includes(name) || reason.length > LINE)
  return (
    <div className="note note-bad" role="alert">
      <Icon name="warn" />
      <div>
        <p className="note-title">{isMarked ? 'Check the marked fields.' : message}</p>
        {listed.length > 0 && (
          <ul>
            {listed.map(([name, reason]) => (
              <li key={name}>
                {named(name)}: {reason}
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
