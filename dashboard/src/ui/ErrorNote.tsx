import { ApiError, describeError, fieldErrors } from '../api/errors'
import { PATHS } from '../paths'
import { CopyButton } from './Copy'
import { Icon } from './Icon'
import { useNavigation } from './navigation'

/** Characters of an error that fit below its field on a phone. */
const LINE = 45

/** Fields of objects as words; the key of a setting stays as it is. */
function formatFieldName(field: string): string {
  return field.includes('.') ? field : field.replaceAll('_', ' ')
}

/**
 * An error with its request ID. `formFields` show their own errors; only those too long for the line below the field are
 * repeated here.
 */
export function ErrorNote({ error, besides: formFields = [] }: { error: unknown; besides?: readonly string[] }) {
  const { Link } = useNavigation()
  if (!error) return null
  const { message, advice, code, requestId } = describeError(error)
  const faults = Object.entries(fieldErrors(error))
  const areAllAtFields = faults.length > 0 && faults.every(([name]) => formFields.includes(name))
  const listed = faults.filter(([name, reason]) => !formFields.includes(name) || reason.length > LINE)
  return (
    <div className="note note-bad" role="alert">
      <Icon name="warn" />
      <div>
        <p className="note-title">{areAllAtFields ? 'Check the highlighted fields.' : message}</p>
        {listed.length > 0 && (
          <ul>
            {listed.map(([name, reason]) => (
              <li key={name}>
                {formatFieldName(name)}: {reason}
              </li>
            ))}
          </ul>
        )}
        {advice && <p>{advice}</p>}
        {error instanceof ApiError && error.code === 'ORCHESTRATOR_BUSY' && (
          <p>
            <Link
              href={
                error.details['reason'] === 'backups'
                  ? PATHS.backups
                  : `${PATHS.services}?operation=${encodeURIComponent(String(error.details['operation_id']))}`
              }
            >
              View the running operation
            </Link>
          </p>
        )}
        <p className="note-small">
          <code>{code}</code>
          {requestId && (
            <>
              {' · request '}
              <code>{requestId}</code> <CopyButton text={requestId} what="request ID" />
            </>
          )}
        </p>
      </div>
    </div>
  )
}
