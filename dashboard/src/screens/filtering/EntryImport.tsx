import type { FilteringRequests } from '../../api/filteringRequests'
import { CsvImport } from '../bulk/CsvImport'
import { toEntries } from './values'

/** Imports entries from a CSV file. */
export function EntryImport({ requests, onDone }: { requests: FilteringRequests; onDone: () => void }) {
  return (
    <CsvImport
      required="value"
      request={(table) => requests.importEntries(toEntries(table))}
      invalidates="filtering"
      noun={['entry', 'entries']}
      onDone={onDone}
    >
      <p className="muted">
        A CSV file with the columns <code>list</code> (allow or deny) and <code>value</code>, and optionally <code>kind</code> (address,
        domain or network), <code>comment</code>
        {requests.scope !== 'mailbox' && (
          <>
            {' '}
            and <code>enforced</code>
          </>
        )}
        . Each row is added or refused by itself.
      </p>
    </CsvImport>
  )
}
