import { Button, Menu, Modal } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, askPage, client, type Schema } from '../api/client'
import { adminsQuery } from '../api/lists'
import { number } from '../locale'
import { instant } from '../search'
import { Allowed } from '../ui/Allowed'
import { AuditObject } from '../ui/AuditObject'
import { AuditChange } from '../ui/AuditChange'
import { Badge, type Tone } from '../ui/Badge'
import { plural } from '../ui/bytes'
import { Copy } from '../ui/Copy'
import { type Column, DataList } from '../ui/DataList'
import { Empty } from '../ui/Empty'
import { ErrorNote } from '../ui/ErrorNote'
import { ChoiceFilter, DomainFilter, Filters, TextFilter } from '../ui/Filters'
import { Icon } from '../ui/Icon'
import { Facts, Page } from '../ui/Page'
import { Time } from '../ui/Time'

type Entry = Schema['AuditEntryResponse']

const route = getRouteApi('/inside/audit')
const FILTERS = ['action', 'admin', 'resource', 'domain', 'age'] as const
const RESOURCES = ['admin', 'alias', 'api_key', 'audit', 'domain', 'mailbox', 'message', 'passkey', 'queue', 'sandbox', 'session', 'suspension', 'webhook']
const AGES: Readonly<Record<string, readonly [number, string]>> = {
  hour: [3_600_000, 'The last hour'],
  day: [86_400_000, 'The last day'],
  week: [604_800_000, 'The last week'],
  month: [2_592_000_000, 'The last 30 days'],
}

const OUTCOMES: Readonly<Record<string, Tone>> = { success: 'good', denied: 'warn', failed: 'bad' }

export function Audit() {
  const search = route.useSearch()
  const [shown, setShown] = useState<Entry | null>(null)
  // What one entry says of an object names it in the others.
  const [page, setPage] = useState<readonly Entry[]>([])
  const [opened] = useState(() => new Date().toISOString())
  // A later page belongs to the span that the first one had, however much later it is asked for.
  const at = (search.cursor && instant(search.at)) || opened
  const span = AGES[search.age ?? '']
  const filter = {
    ...(search.action && { action: search.action }),
    ...(search.admin && { admin_id: search.admin }),
    ...(search.resource && { resource_type: search.resource }),
    ...(search.domain && { domain_id: search.domain }),
    ...(span && { since: new Date(Date.parse(at) - span[0]).toISOString() }),
  }
  const columns: readonly Column<Entry>[] = [
    {
      head: 'What',
      cell: (row) => (
        <button type="button" className="row-button row-link" onClick={() => setShown(row)}>
          {row.action}
        </button>
      ),
    },
    { head: 'Outcome', cell: (row) => <Outcome of={row} /> },
    { head: 'Object', wide: true, cell: (row) => <AuditObject of={row} rows={page} /> },
    { head: 'Who', cell: (row) => <span className="party" title={row.actor.label}><Who of={row} /></span> },
    { head: 'From', cell: (row) => row.ip_address ?? '' },
    { head: 'When', sort: 'created_at', cell: (row) => <Time at={row.created_at} form="exact" /> },
  ]
  return (
    <Page title="Audit log" lead="Every change and every refused attempt, with who made it. Nobody can alter it unseen: entries are chained and sealed." actions={<Actions filter={filter} />}>
      <Filters names={FILTERS}>
        <TextFilter name="action" label="Action, such as alias.create" main />
        <ChoiceFilter name="resource" label="Kind of thing" data={RESOURCES.map((value) => ({ value, label: value.replaceAll('_', ' ') }))} />
        <AdminFilter />
        <DomainFilter />
        <ChoiceFilter name="age" label="Any time" data={Object.entries(AGES).map(([value, [, label]]) => ({ value, label }))} />
      </Filters>
      <DataList
        label="Audit log"
        of={['audit', 'list', filter]}
        {...(span && { pinned: { at } })}
        load={async (asked) => {
          const found = await askPage(client.GET('/audit', { params: { query: { ...filter, ...asked, sort: 'created_at' } } }))
          setPage(found.rows)
          return found
        }}
        columns={columns}
        rowKey={(row) => row.id}
        empty={
          <Empty icon="scroll" title="No matching entries">
            {Object.keys(filter).length ? 'Clear the filters to see all that you may see.' : 'You see what happened to your domains, once something did.'}
          </Empty>
        }
      />
      <Modal opened={shown !== null} onClose={() => setShown(null)} title={shown?.action ?? ''} size="xl">
        {shown && <Detail of={shown} rows={page} />}
      </Modal>
    </Page>
  )
}

function Outcome({ of }: { of: Entry }) {
  return <Badge tone={OUTCOMES[of.outcome] ?? 'calm'}>{of.outcome}</Badge>
}

const BY: Readonly<Record<string, string>> = { session: '', api_key: 'key ', system: 'system: ', cli: 'command line: ' }

function Who({ of }: { of: Entry }) {
  return (
    <span>
      <span className="soft">{BY[of.actor.type] ?? `${of.actor.type} `}</span>
      {of.actor.label}
    </span>
  )
}

function AdminFilter() {
  const { data } = useQuery(adminsQuery())
  return <ChoiceFilter name="admin" label="Anybody" data={(data ?? []).map((row) => ({ value: row.id, label: row.email }))} />
}

function Actions({ filter }: { filter: Readonly<Record<string, string>> }) {
  const [isOpen, setOpen] = useState(false)
  const query = (format: string) => new URLSearchParams({ ...filter, format }).toString()
  const verify = useMutation({ mutationFn: () => ask(client.GET('/audit/verify')), onMutate: () => setOpen(true) })
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<Icon name="down_load" size={16} />}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>What the filters show</Menu.Label>
          {['csv', 'json', 'ndjson'].map((format) => (
            <Allowed key={format} to="audit.export">
              <Menu.Item component="a" href={`/api/v1/audit/export?${query(format)}`} download>
                {format.toUpperCase()}
              </Menu.Item>
            </Allowed>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Allowed to="audit.verify">
        <Button leftSection={<Icon name="shield" size={16} />} loading={verify.isPending} onClick={() => verify.mutate()}>
          Verify
        </Button>
      </Allowed>
      <Modal opened={isOpen && !verify.isPending} onClose={() => setOpen(false)} title="Verification" size="lg">
        <ErrorNote error={verify.error} />
        {verify.data && <Verdict of={verify.data} />}
      </Modal>
    </>
  )
}

function Verdict({ of }: { of: Schema['VerificationResponse'] }) {
  return (
    <div className="stack">
      <div className={`note ${of.ok ? 'note-good' : 'note-bad'}`} role="status">
        <Icon name={of.ok ? 'check' : 'warn'} />
        <div>
          <p className="note-title">{of.ok ? 'The log is as it was written.' : `${plural(of.bad_count, 'fault')} found: the log was tampered with.`}</p>
          <p>
            {plural(of.checked, 'entry is', 'entries are')} sealed and checked; {plural(of.unsealed, 'is', 'are')} newer than the last seal.
          </p>
        </div>
      </div>
      {of.bad.length > 0 && (
        <ul className="faults">
          {of.bad.map((fault, index) => (
            <li key={index}>
              <Badge tone="bad">{fault.problem}</Badge> <code>{fault.id ?? `seal ${fault.seal ?? ''}`}</code>
            </li>
          ))}
        </ul>
      )}
      <Facts
        rows={[
          ['Last seal', of.head ? <>{number(of.head.sequence)}, <Time at={of.head.sealed_at} /></> : 'none yet'],
          ['Its hash', of.head ? <code>{of.head.hash}</code> : ''],
          ['Public key', <span className="row"><code>{of.public_key}</code><Copy text={of.public_key} what="public key" /></span>],
        ]}
      />
      <p className="soft small">
        Keep the public key and an export as NDJSON elsewhere, and anybody can check it without this server: <code>mailkeep audit verify FILE --public-key KEY</code>.
      </p>
    </div>
  )
}

function Detail({ of, rows }: { of: Entry; rows: readonly Entry[] }) {
  const facts = [
    ['Who', <Who of={of} />],
    ['When', <Time at={of.created_at} form="exact" />],
    ['Outcome', <><Outcome of={of} /> {of.error_code && <code>{of.error_code}</code>}</>],
    ['Object', <>{of.resource_type.replaceAll('_', ' ')}: <AuditObject of={of} rows={rows} /></>],
    ['ID', of.resource_id ? <span className="copyable"><code>{of.resource_id}</code><Copy text={of.resource_id} what="ID" /></span> : 'none'],
    ['Domain', of.domain_name ?? 'none'],
    ['From', of.ip_address ?? 'this machine'],
    ['By', of.user_agent ?? 'not told'],
    ['Request', of.request_id ? <span className="row"><code>{of.request_id}</code><Copy text={of.request_id} what="request id" /></span> : 'none'],
  ] as const
  return (
    <div className="stack">
      <Facts rows={facts} />
      <AuditChange details={of.details} />
    </div>
  )
}
