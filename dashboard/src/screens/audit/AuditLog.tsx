import { Button, Menu, Modal } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { adminsQuery } from '../../api/lists'
import { formatNumber } from '../../locale'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { AuditObject } from './AuditObject'
import { AuditChange } from './AuditChange'
import { Badge, type Tone } from '../../ui/Badge'
import { pluralize } from '../../units'
import { CopyableCode } from '../../ui/Copy'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { NoMatches } from '../../ui/NoMatches'
import { ErrorNote } from '../../ui/ErrorNote'
import { DomainFilter } from '../domains/DomainFilter'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { Icon } from '../../ui/Icon'
import { Facts, Page } from '../../ui/Page'
import { Time } from '../../ui/Time'

type Entry = Schema['AuditEntryResponse']

const route = getRouteApi('/app/audit')
const FILTERS = ['action', 'admin', 'resource', 'domain', 'age'] as const
const RESOURCES = [
  'admin',
  'alias',
  'api_key',
  'audit',
  'domain',
  'mailbox',
  'message',
  'passkey',
  'queue',
  'sandbox',
  'session',
  'sign_in_block',
  'suspension',
  'webhook',
]
const PERIODS: Readonly<Record<string, readonly [number, string]>> = {
  hour: [3_600_000, 'Last hour'],
  day: [86_400_000, 'Last 24 hours'],
  week: [604_800_000, 'Last 7 days'],
  month: [2_592_000_000, 'Last 30 days'],
}

const OUTCOMES: Readonly<Record<string, Tone>> = { success: 'good', denied: 'warn', failed: 'bad' }

export function AuditLog() {
  const search = route.useSearch()
  const mayVerify = useDenialReason('audit.verify') === null
  const [shown, setShown] = useState<{ entry: Entry; rows: readonly Entry[] } | null>(null)
  // The same for all pages, and for a return within the minute, which then shows the loaded pages.
  const [openedAt] = useState(() => Math.floor(Date.now() / 60_000) * 60_000)
  const period = PERIODS[search.age ?? '']
  const filter = {
    ...(search.action && { action: search.action }),
    ...(search.admin && { admin_id: search.admin }),
    ...(search.resource && { resource_type: search.resource }),
    ...(search.domain && { domain_id: search.domain }),
    ...(period && { since: new Date(openedAt - period[0]).toISOString() }),
  }
  const columns: readonly Column<Entry>[] = [
    {
      header: 'Action',
      cell: (row, rows) => (
        <button type="button" className="row-button row-link" onClick={() => setShown({ entry: row, rows })}>
          {row.action}
        </button>
      ),
    },
    { header: 'Outcome', cell: (row) => <Outcome entry={row} /> },
    { header: 'Resource', wide: true, cell: (row, rows) => <AuditObject entry={row} rows={rows} /> },
    {
      header: 'Actor',
      cell: (row) => (
        <span className="party" title={row.actor.label}>
          <Actor entry={row} />
        </span>
      ),
    },
    { header: 'IP address', cell: (row) => row.ip_address ?? '' },
    { header: 'Time', sort: 'created_at', cell: (row) => <Time at={row.created_at} form="exact" /> },
  ]
  return (
    <Page
      title="Audit log"
      lead={`Every change and every denied attempt, with its actor.${mayVerify ? ' Verify finds entries that were changed, removed or inserted later.' : ''}`}
      actions={<Actions filter={filter} />}
    >
      <Filters names={FILTERS}>
        <TextFilter name="action" label="Action, for example alias.create" main />
        <ChoiceFilter name="resource" label="Resource" data={RESOURCES.map((value) => ({ value, label: value.replaceAll('_', ' ') }))} />
        <AdminFilter />
        <DomainFilter />
        <ChoiceFilter name="age" label="Period" data={Object.entries(PERIODS).map(([value, [, label]]) => ({ value, label }))} />
      </Filters>
      <DataList
        label="Audit log"
        queryKey={['audit', 'list', filter]}
        load={(page) => fetchPage(client.GET('/audit', { params: { query: { ...filter, ...page, sort: 'created_at' } } }))}
        columns={columns}
        rowKey={(row) => row.id}
        empty={
          Object.keys(filter).length > 0 ? (
            <NoMatches what="entries" filters={FILTERS} />
          ) : (
            <EmptyState icon="scroll" title="No entries yet">
              Changes to your domains appear here.
            </EmptyState>
          )
        }
      />
      <Modal opened={shown !== null} onClose={() => setShown(null)} title={shown?.entry.action ?? ''} size="xl">
        {shown && <EntryDetails entry={shown.entry} rows={shown.rows} />}
      </Modal>
    </Page>
  )
}

function Outcome({ entry }: { entry: Entry }) {
  return <Badge tone={OUTCOMES[entry.outcome] ?? 'calm'}>{entry.outcome}</Badge>
}

const ACTOR_PREFIXES: Readonly<Record<string, string>> = { session: '', api_key: 'key ', system: 'system: ', cli: 'command line: ' }

function Actor({ entry }: { entry: Entry }) {
  return (
    <span>
      <span className="muted">{ACTOR_PREFIXES[entry.actor.type] ?? `${entry.actor.type} `}</span>
      {entry.actor.label}
    </span>
  )
}

function AdminFilter() {
  const { data } = useQuery(adminsQuery())
  return <ChoiceFilter name="admin" label="Administrator" data={(data ?? []).map((row) => ({ value: row.id, label: row.email }))} />
}

function Actions({ filter }: { filter: Readonly<Record<string, string>> }) {
  const [isOpen, setOpen] = useState(false)
  const query = (format: string) => new URLSearchParams({ ...filter, format }).toString()
  const verify = useMutation({ mutationFn: () => fetchData(client.GET('/audit/verify')), onMutate: () => setOpen(true) })
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<Icon name="down_load" size={16} />}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Entries that match the filters</Menu.Label>
          {['csv', 'json', 'ndjson'].map((format) => (
            <Allowed key={format} action="audit.export">
              <Menu.Item component="a" href={`/api/v1/audit/export?${query(format)}`} download>
                {format.toUpperCase()}
              </Menu.Item>
            </Allowed>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Allowed action="audit.verify">
        <Button leftSection={<Icon name="shield" size={16} />} loading={verify.isPending} onClick={() => verify.mutate()}>
          Verify
        </Button>
      </Allowed>
      <Modal opened={isOpen && !verify.isPending} onClose={() => setOpen(false)} title="Verification" size="lg">
        <ErrorNote error={verify.error} />
        {verify.data && <VerificationResult result={verify.data} />}
      </Modal>
    </>
  )
}

const PROBLEMS: Readonly<Record<Schema['VerificationResponse']['bad'][number]['problem'], string>> = {
  altered: 'changed after it was written',
  removed: 'removed',
  inserted: 'inserted later',
  seal_altered: 'seal changed',
  seal_removed: 'seal removed',
  truncated: 'log cut off from here on',
}

function VerificationResult({ result }: { result: Schema['VerificationResponse'] }) {
  return (
    <div className="stack">
      <div className={`note ${result.ok ? 'note-good' : 'note-bad'}`} role="status">
        <Icon name={result.ok ? 'check' : 'warn'} />
        <div>
          <p className="note-title">
            {result.ok
              ? 'The audit log is intact.'
              : `The audit log was tampered with: ${pluralize(result.bad_count, 'invalid entry', 'invalid entries')}.`}
          </p>
          <p>
            {pluralize(result.checked, 'sealed entry', 'sealed entries')} verified.
            {result.unsealed > 0 &&
              ` ${pluralize(result.unsealed, 'entry is', 'entries are')} newer than the last seal and can't be verified yet.`}
          </p>
        </div>
      </div>
      {result.bad.length > 0 && (
        <ul className="faults">
          {result.bad.map((fault, index) => (
            <li key={index}>
              <Badge tone="bad">{PROBLEMS[fault.problem]}</Badge> <code>{fault.id ?? `seal ${fault.seal ?? ''}`}</code>
            </li>
          ))}
        </ul>
      )}
      <Facts
        rows={[
          [
            'Last seal',
            result.head ? (
              <>
                {formatNumber(result.head.sequence)}, <Time at={result.head.sealed_at} />
              </>
            ) : (
              'none'
            ),
          ],
          ['Hash of the seal', result.head ? <code>{result.head.hash}</code> : ''],
          ['Public key', <CopyableCode value={result.public_key} what="public key" />],
        ]}
      />
      <p className="muted small">
        Store the public key and an NDJSON export elsewhere to verify the log without this server:{' '}
        <code>mailkeep audit verify FILE --public-key KEY</code>.
      </p>
    </div>
  )
}

function EntryDetails({ entry, rows }: { entry: Entry; rows: readonly Entry[] }) {
  const facts = [
    ['Actor', <Actor entry={entry} />],
    ['Time', <Time at={entry.created_at} form="exact" />],
    [
      'Outcome',
      <>
        <Outcome entry={entry} /> {entry.error_code && <code>{entry.error_code}</code>}
      </>,
    ],
    [
      'Resource',
      <>
        {entry.resource_type.replaceAll('_', ' ')}: <AuditObject entry={entry} rows={rows} />
      </>,
    ],
    ['ID', entry.resource_id ? <CopyableCode value={entry.resource_id} what="ID" /> : 'none'],
    ['Domain', entry.domain_name ?? 'none'],
    ['IP address', entry.ip_address ?? 'local'],
    ['User agent', entry.user_agent ?? 'unknown'],
    ['Request', entry.request_id ? <CopyableCode value={entry.request_id} what="request ID" /> : 'none'],
  ] as const
  return (
    <div className="stack">
      <Facts rows={facts} />
      <AuditChange details={entry.details} />
    </div>
  )
}
