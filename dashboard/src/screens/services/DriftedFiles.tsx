import { Button, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { Allowed } from '../../access/Allowed'
import type { Tone } from '../../ui/Badge'
import { LoadingLines } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ErrorNote } from '../../ui/ErrorNote'
import { Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { pluralize } from '../../units'
import { ApplyDialog } from './ApplyDialog'
import { FileDiff } from './Diff'
import { driftQuery, planQuery } from './queries'

type Drift = Schema['DriftResponse']
type Decision = 'keep' | 'overwrite' | 'adopt'

const KINDS: Readonly<Record<Drift['kind'], { label: string; tone: Tone }>> = {
  changed: { label: 'changed', tone: 'warn' },
  deleted: { label: 'deleted', tone: 'bad' },
  added: { label: 'added', tone: 'warn' },
}

function nameOf(file: Drift): string {
  return `${file.service}/${file.path}`
}

/** The files of the daemons' configuration that were edited by hand, and what to do with each. */
export function DriftedFiles({ isEmbedded }: { isEmbedded: boolean }) {
  const { data, error } = useQuery(driftQuery())
  const [decisions, setDecisions] = useState<Readonly<Record<string, Decision>>>({})
  const [isApplying, setApplying] = useState(false)
  const plan = useQuery({ ...planQuery(), enabled: isApplying, staleTime: 0 })
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
  const decide = (decision: Decision) => data.map(nameOf).filter((name) => decisions[name] === decision)
  const overwrite = decide('overwrite')
  const adopt = decide('adopt')
  const count = overwrite.length + adopt.length
  return (
    <Section
      title="Edited by hand"
      lead="Compared with the files that Mailkeep installed. These edits are kept, also at the next start, unless the daemon’s own check rejects them."
      actions={
        <Allowed action="orchestrator.write">
          <Button size="xs" disabled={count === 0} loading={isApplying && plan.isFetching} onClick={() => setApplying(true)}>
            {count === 0 ? 'Apply' : `Apply ${pluralize(count, 'decision')}`}
          </Button>
        </Allowed>
      }
    >
      <div className="stack">
        {isApplying && plan.error && !plan.data && <ErrorNote error={plan.error} />}
        {data.map((file) => {
          const name = nameOf(file)
          return (
            <div key={name} className="stack">
              <FileDiff name={name} state={KINDS[file.kind]} diff={file.diff}>
                {file.changed_at && (
                  <>
                    Changed <Time at={file.changed_at} form="exact" />
                    {file.owner !== null && `, owned by ${file.owner === 0 ? 'root' : `user ID ${file.owner}`}`}
                  </>
                )}
              </FileDiff>
              <Allowed action="orchestrator.write">
                <Decide
                  file={file}
                  value={decisions[name] ?? 'keep'}
                  onChange={(decision) => setDecisions({ ...decisions, [name]: decision })}
                />
              </Allowed>
            </div>
          )
        })}
      </div>
      {isApplying && plan.data && !plan.isFetching && (
        <ApplyDialog plan={plan.data} overwrite={overwrite} adopt={adopt} onClose={() => setApplying(false)} />
      )}
    </Section>
  )
}

/** What to do with an edit, and what adopting it would mean. */
function Decide({ file, value, onChange }: { file: Drift; value: Decision; onChange: (decision: Decision) => void }) {
  const { setting, lines, refused } = file.adoption
  return (
    <div>
      <SegmentedControl
        size="xs"
        aria-label={`Decision about ${nameOf(file)}`}
        value={value}
        onChange={(chosen) => onChange(chosen as Decision)}
        data={[
          { value: 'keep', label: 'Keep' },
          { value: 'overwrite', label: 'Overwrite' },
          { value: 'adopt', label: 'Adopt into the settings', disabled: refused.length > 0 },
        ]}
      />
      {value === 'overwrite' && <p className="muted small">The file is replaced by Mailkeep’s own version. The edit is lost.</p>}
      {refused.length > 0 ? (
        <details>
          <summary className="muted small">Can’t be adopted into the settings</summary>
          <ul className="lines" aria-label={`What can’t be adopted of ${nameOf(file)}`}>
            {refused.map((reason) => (
              <li key={reason}>
                <code>{reason}</code>
              </li>
            ))}
          </ul>
        </details>
      ) : (
        value === 'adopt' && (
          <>
            <p className="muted small">
              {lines ? (
                <>
                  The setting <code>{setting}</code> then has these lines for this file:
                </>
              ) : (
                <>
                  The setting <code>{setting}</code> then has no lines for this file. Comments are not adopted.
                </>
              )}
            </p>
            {lines && (
              <pre className="diff" tabIndex={0} aria-label={`Adopted lines of ${nameOf(file)}`}>
                {lines}
              </pre>
            )}
          </>
        )
      )}
    </div>
  )
}
