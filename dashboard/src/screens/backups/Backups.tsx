import { Button, Progress } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Link } from '@tanstack/react-router'
import { Allowed } from '../../access/Allowed'
import { client, fetchData, fetchPage } from '../../api/client'
import { followOperation } from '../../api/operations'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { Badge } from '../../ui/Badge'
import { type Column, DataList, LoadingLines } from '../../ui/DataList'
import { DayChart, type Series } from '../../ui/DayChart'
import { DetailTabs } from '../../ui/DetailTabs'
import { EmptyState } from '../../ui/Empty'
import { ErrorBar } from '../../ui/ErrorBar'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'
import { formatBytes } from '../../units'
import { CancelButton } from './OperationProgress'
import { PolicyForm } from './PolicyForm'
import { type Backup, IDLE_MS, KEY, type Policy, recentQuery, usePolicy } from './queries'
import { describeOperation, listSizes, listWarnings, shareOf, toneOf } from './texts'

/** Backups: what was made, verified and is due, and the policy. */
export function Backups() {
  const { data: policy } = usePolicy()
  const create = useApiMutation({
    request: () => fetchData(client.POST('/backups', { body: {} })),
    invalidates: [KEY],
    onSuccess: ({ id, operation }) => operation && followOperation({ ids: [operation.id], title: 'Backup', names: [], backup: id }),
  })
  return (
    <Page
      title="Backups"
      lead="Encrypted copies of the database, all mail, the queue, secrets and settings."
      actions={
        <Allowed action="backup.write" disabledReason={policy?.operation ? 'Another operation is running.' : null}>
          <Button loading={create.isPending} onClick={() => create.mutate(undefined)}>
            Make a backup
          </Button>
        </Allowed>
      }
    >
      <ErrorBar error={create.error} />
      <DetailTabs
        tabs={[
          { value: 'backups', label: 'Backups', content: <Overview /> },
          { value: 'policy', label: 'Policy', content: <PolicyForm /> },
        ]}
      />
    </Page>
  )
}

function Overview() {
  const { data: policy, error } = usePolicy()
  const { data: recent, dataUpdatedAt } = useQuery(recentQuery())
  if (error) return <ErrorNote error={error} />
  if (!policy || !recent) return <LoadingLines count={8} />
  const warnings = listWarnings(policy, policy.last_backup_at !== null)
  return (
    <>
      {warnings.length > 0 && (
        <div className="note note-warn">
          <Icon name="info" />
          <ul>
            {warnings.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
      <dl className="facts section card">
        <Fact name="Last backup" at={policy.last_backup_at} otherwise="none yet" />
        <Fact name="Next backup" at={policy.next_backup_at} otherwise="not scheduled" />
        <Fact name="Last verification" at={policy.last_verified_at} otherwise="never" />
        <Fact name="Next verification" at={policy.next_verification_at} otherwise="not scheduled" />
        <Fact
          name="Recovery key tested"
          at={policy.recovery_key?.verified_at ?? null}
          otherwise={policy.recovery_key ? 'never' : 'no key'}
        />
      </dl>
      <RunningOperation operation={policy.operation} />
      <Sizes backups={recent.rows} today={new Date(dataUpdatedAt).toISOString().slice(0, 10)} />
      <DataList
        label="Backups"
        queryKey={[KEY, 'list']}
        load={(page) => fetchPage(client.GET('/backups', { params: { query: { ...page, sort: page.sort as 'created_at' } } }))}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        refetchEvery={policy.operation ? 2_000 : IDLE_MS}
        empty={
          <EmptyState icon="box" title="No backups yet">
            Make a first backup, then set a schedule in the policy.
          </EmptyState>
        }
      />
    </>
  )
}

/** What waits or runs. The space is kept when nothing does, so that nothing moves. */
function RunningOperation({ operation }: { operation: Policy['operation'] }) {
  return (
    <section className="section card backup-operation" aria-label="Operation">
      <div className="between">
        <span>{operation ? describeOperation(operation) : <span className="muted">No operation is running.</span>}</span>
        {operation?.backup_id && !operation.cancel_requested && <CancelButton backup={operation.backup_id} />}
      </div>
      <Progress className={operation ? undefined : 'invisible'} value={operation ? shareOf(operation) : 0} aria-label="Progress" />
    </section>
  )
}

/** What a backup contains, and what was added to the repository, per day. */
function Sizes({ backups, today }: { backups: readonly Backup[]; today: string }) {
  const { days, series, since, until } = useMemo(() => {
    const sizes = listSizes(backups, today)
    return {
      ...sizes,
      series: [
        { label: 'A backup contains', tone: '--keep', counts: sizes.contains },
        { label: 'Added to the repository', tone: '--good', counts: sizes.added },
      ] satisfies Series[],
    }
  }, [backups, today])
  if (days.length < 2) return null
  return (
    <section className="section card">
      <h2>Size over time</h2>
      <DayChart label="Sizes per day" days={days} series={series} since={since} until={until} unit="bytes" />
    </section>
  )
}

function Fact({ name, at, otherwise }: { name: string; at: string | null; otherwise: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{at ? <Time at={at} /> : <span className="muted">{otherwise}</span>}</dd>
    </div>
  )
}

const COLUMNS: readonly Column<Backup>[] = [
  {
    header: 'Begun',
    sort: 'created_at',
    cell: (row) => (
      <Link className="row-link" to={PATHS.backup} params={{ id: row.id }}>
        <Time at={row.created_at} />
      </Link>
    ),
  },
  {
    header: 'State',
    cell: (row) => (
      <>
        <Badge tone={toneOf(row.state)}>{row.state}</Badge>
        {row.operation && <div className="muted">{describeOperation(row.operation)}</div>}
        {row.error && <div className="muted break">{row.error}</div>}
      </>
    ),
  },
  { header: 'Verified', cell: (row) => <Verified backup={row} /> },
  { header: 'Messages', align: 'right', cell: (row) => row.counts && formatNumber(row.counts.messages) },
  { header: 'Contains', align: 'right', cell: (row) => row.size_bytes !== null && formatBytes(row.size_bytes) },
  { header: 'Added', align: 'right', cell: (row) => row.added_bytes !== null && formatBytes(row.added_bytes) },
]

/** Whether a backup was found to be as it should be. */
export function Verified({ backup }: { backup: Backup }) {
  if (backup.state !== 'succeeded') return null
  if (!backup.verified) return <Badge tone="warn">never</Badge>
  return (
    <>
      <Badge tone={backup.verified.ok ? 'good' : 'bad'}>{backup.verified.ok ? 'as it should be' : 'differs'}</Badge>
      <div className="muted">
        <Time at={backup.verified.at} />
      </div>
    </>
  )
}
