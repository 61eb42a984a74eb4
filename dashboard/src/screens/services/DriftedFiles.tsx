import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../api/client'
import type { Tone } from '../../ui/Badge'
import { LoadingLines } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ErrorNote } from '../../ui/ErrorNote'
import { Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { FileDiff } from './Diff'
import { driftQuery } from './queries'

const KINDS: Readonly<Record<Schema['DriftResponse']['kind'], { label: string; tone: Tone }>> = {
  changed: { label: 'changed', tone: 'warn' },
  deleted: { label: 'deleted', tone: 'bad' },
  added: { label: 'added', tone: 'warn' },
}

/** The files of the daemons' configuration that were edited by hand. */
export function DriftedFiles({ isEmbedded }: { isEmbedded: boolean }) {
  const { data, error } = useQuery(driftQuery())
  if (!data) return error ? <ErrorNote error={error} /> : <LoadingLines count={6} />
  if (data.length === 0)
    return (
      <div className="card">
        <EmptyState icon="check" title="No edits by hand">
          {isEmbedded
            ? 'The embedded profile has no daemons with files of configuration.'
            : 'All files of the daemons’ configuration are as Mailkeep installed them.'}
        </EmptyState>
      </div>
    )
  return (
    <Section
      title="Edited by hand"
      lead="Compared with the files that Mailkeep installed. These edits are kept, also at the next start, unless the daemon’s own check rejects them."
    >
      <div className="stack">
        {data.map((file) => (
          <FileDiff key={`${file.service}/${file.path}`} name={`${file.service}/${file.path}`} state={KINDS[file.kind]} diff={file.diff}>
            {file.changed_at && (
              <>
                Changed <Time at={file.changed_at} form="exact" />
                {file.owner !== null && `, owned by ${file.owner === 0 ? 'root' : `user ID ${file.owner}`}`}
              </>
            )}
          </FileDiff>
        ))}
      </div>
    </Section>
  )
}
