import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { client, fetchData, fetchPage } from '../../api/client'
import { Badge, type Tone } from '../../ui/Badge'
import { Confirm } from '../../ui/Confirm'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'
import { ChangeTable } from './ChangeTable'
import { RecentSignIn, useRecentSignIn } from '../../ui/RecentSignIn'
import { describeChanges, listRolledBack, type Revision, type Setting } from './values'

const STATES: Readonly<Record<Revision['state'], { label: string; tone: Tone }>> = {
  applied: { label: 'in effect', tone: 'good' },
  desired: { label: 'not applied yet', tone: 'info' },
  superseded: { label: 'replaced', tone: 'calm' },
}

interface Target {
  n: number
  /** The newer revisions, as far as they are loaded. */
  newer: readonly Revision[]
}

/** The revisions of the settings, and going back to one of them. */
export function History({ settings }: { settings: readonly Setting[] }) {
  const [target, setTarget] = useState<Target | null>(null)
  return (
    <>
      <DataList
        label="Revisions of the settings"
        queryKey={['config', 'revisions']}
        load={({ cursor, limit }) =>
          fetchPage(client.GET('/config/revisions', { params: { query: { limit, ...(cursor && { cursor }) } } }))
        }
        columns={columns(settings, setTarget)}
        rowKey={(row) => String(row.n)}
        toolbar={(rows) => (
          <div className="list-foot">
            <span className="muted">A rollback adds a revision with the old values. No revision is ever changed.</span>
            <Button size="xs" variant="default" onClick={() => setTarget({ n: 0, newer: rows })}>
              Remove all stored settings
            </Button>
          </div>
        )}
        empty={
          <EmptyState icon="clock" title="No revisions yet">
            Every change of the stored settings is listed here, and you can go back to each of them.
          </EmptyState>
        }
      />
      {target && <Rollback target={target} settings={settings} onClose={() => setTarget(null)} />}
    </>
  )
}

function columns(settings: readonly Setting[], onRollBack: (target: Target) => void): readonly Column<Revision>[] {
  return [
    { header: 'Revision', cell: (row) => <span className="strong">{row.n}</span> },
    { header: 'State', cell: (row) => <Badge tone={STATES[row.state].tone}>{STATES[row.state].label}</Badge> },
    { header: 'Changes', cell: (row) => <Changes revision={row} settings={settings} /> },
    {
      header: 'By',
      cell: (row) => (
        <span className="party" title={row.author}>
          {row.author}
        </span>
      ),
    },
    { header: 'Time', cell: (row) => <Time at={row.at} form="ago" /> },
    {
      header: '',
      align: 'right',
      cell: (row, rows) =>
        row.n !== rows[0]?.n && (
          <Button
            size="xs"
            variant="default"
            onClick={() => onRollBack({ n: row.n, newer: rows })}
            aria-label={`Roll back to revision ${row.n}`}
          >
            Roll back
          </Button>
        ),
    },
  ]
}

function Changes({ revision, settings }: { revision: Revision; settings: readonly Setting[] }) {
  const changes = describeChanges(settings, revision.changes, Object.keys(revision.changes))
  return (
    <div className="stack-small revision change">
      {revision.comment && <span className="strong">{revision.comment}</span>}
      {changes.length === 0 && <span className="muted">No setting changed.</span>}
      {changes.map((change) => (
        <span key={change.key} className="small">
          <code>{change.key}</code> <del>{change.before}</del> → <ins>{change.after}</ins>
        </span>
      ))}
    </div>
  )
}

function Rollback({ target, settings, onClose }: { target: Target; settings: readonly Setting[]; onClose: () => void }) {
  const { n, newer } = target
  const [comment, setComment] = useState('')
  const rollBack = useApiMutation({
    request: () =>
      fetchData(
        client.POST('/config/revisions/{n}/rollback', {
          params: { path: { n: String(n) }, header: { 'If-Match': `"${newer[0]?.n ?? 0}"` } },
          body: { comment: comment.trim(), ...signIn.body },
        }),
      ),
    invalidates: ['config', 'orchestrator'],
    message: (answer) =>
      `Rolled back: revision ${answer.revision}${answer.needs_restart.length ? '. Some settings do not apply yet' : ''}.`,
    onSuccess: onClose,
  })
  const signIn = useRecentSignIn(rollBack.error)
  const isComplete = n > 0 || newer.some((each) => each.n === 1)
  const changes = describeChanges(settings, listRolledBack(newer, n), Object.keys(listRolledBack(newer, n)))
  return (
    <Confirm
      opened
      onClose={onClose}
      title={n ? `Roll back to revision ${n}` : 'Remove all stored settings'}
      action={n ? 'Roll back' : 'Remove'}
      isPending={rollBack.isPending}
      isDisabled={!signIn.isReady}
      error={signIn.otherError}
      onConfirm={() => rollBack.mutate(undefined)}
      size="lg"
    >
      {signIn.isNeeded ? (
        <RecentSignIn {...signIn.promptProps} consequence="Sign in again, then roll back." />
      ) : (
        <div className="stack">
          <p>
            {n
              ? 'The stored settings get the values that they had then, as a new revision:'
              : 'All settings get their defaults again, or the values of mailkeep.toml and the environment, as a new revision:'}
          </p>
          {changes.length > 0 ? (
            <ChangeTable changes={changes} label="Changes of the rollback" />
          ) : (
            <p className="muted">The values are the same as now.</p>
          )}
          {!isComplete && <p className="muted">Older revisions are not loaded; the settings that they changed are removed as well.</p>}
          <TextInput
            label="Comment"
            value={comment}
            onChange={(event) => setComment(event.currentTarget.value)}
            maxLength={500}
            autoComplete="off"
            data-autofocus
          />
        </div>
      )}
    </Confirm>
  )
}
