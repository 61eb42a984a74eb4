import { Button, Checkbox, Modal } from '@mantine/core'
import { useState } from 'react'
import { Allowed, useDenialReason } from '../../access/Allowed'
import type { Action } from '../../access/policy'
import type { FilterEntry, FilteringRequests } from '../../api/filteringRequests'
import { formatNumber } from '../../locale'
import { useSearchParams } from '../../search'
import { Badge } from '../../ui/Badge'
import { Confirm } from '../../ui/Confirm'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { Icon } from '../../ui/Icon'
import { NewButton } from '../../ui/NewButton'
import { NoMatches } from '../../ui/NoMatches'
import { Section } from '../../ui/Page'
import { RowButton } from '../../ui/RowButton'
import { selectColumn, type Selection, useSelection } from '../../ui/selection'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'
import { pluralize } from '../../units'
import { EntryForm } from './EntryForm'
import { EntryImport } from './EntryImport'
import { describeMatch, KINDS } from './words'

const FILTERS = ['q', 'list', 'kind']
/** Requests at the same time while several entries are removed. */
const PARALLEL = 4

interface Props {
  requests: FilteringRequests
  action: Action
}

/** The allow and deny list of the server, a domain or a mailbox. */
export function Entries({ requests, action }: Props) {
  const [params, change] = useSearchParams()
  const isReadOnly = useDenialReason(action) !== null
  const selection = useSelection()
  const [removed, setRemoved] = useState<readonly FilterEntry[] | null>(null)
  const { q, list, kind } = params
  const filter = {
    ...(q && { q }),
    ...(list && { list: list as FilterEntry['list'] }),
    ...(kind && { kind: kind as FilterEntry['kind'] }),
  }
  const close = () => change({ new: undefined, import: undefined })
  const addButton = <NewButton action={action} label="Add entry" />
  return (
    <Section
      bare
      title="Allow and deny list"
      lead={
        requests.scope === 'mailbox'
          ? 'Mail from these senders goes to the inbox, or is refused, whatever its score.'
          : 'Mail from these senders goes to the inbox, or is refused, whatever its score. Entries of a mailbox have priority, unless one here is enforced.'
      }
      actions={
        <>
          <Allowed action={action}>
            <Button variant="default" onClick={() => change({ import: 'yes' })}>
              Import
            </Button>
          </Allowed>
          {addButton}
        </>
      }
    >
      <div className="stack">
        <AllowNote requests={requests} />
        <Filters names={FILTERS}>
          <TextFilter name="q" label="Search by sender or comment" hint="Search entries" main />
          <ChoiceFilter
            name="list"
            label="List"
            data={[
              { value: 'allow', label: 'Allow' },
              { value: 'deny', label: 'Deny' },
            ]}
          />
          <ChoiceFilter name="kind" label="Kind" data={Object.entries(KINDS).map(([value, label]) => ({ value, label }))} />
        </Filters>
        <DataList
          label="Allow and deny list"
          queryKey={['filtering', requests.id, 'entries', filter]}
          load={({ limit, cursor }) => requests.listEntries({ ...filter, limit, ...(cursor && { cursor }) })}
          columns={[
            ...(isReadOnly
              ? []
              : [
                  selectColumn<FilterEntry>(
                    selection,
                    ({ id }) => id,
                    ({ value }) => value,
                  ),
                ]),
            ...COLUMNS,
            {
              header: '',
              align: 'right' as const,
              cell: (row: FilterEntry) => (
                <RowButton action={action} name="trash" label={`Remove ${row.value}`} onClick={() => setRemoved([row])} />
              ),
            },
          ]}
          rowKey={(row) => row.id}
          toolbar={(rows) => !isReadOnly && <EntryBar rows={rows} selection={selection} onRemove={setRemoved} />}
          empty={
            FILTERS.some((name) => params[name]) ? (
              <NoMatches what="entries" filters={FILTERS} />
            ) : (
              <EmptyState icon="shield" title="No entries" action={addButton}>
                {'Add senders whose mail always goes to the inbox, or is always refused.'}
              </EmptyState>
            )
          }
        />
      </div>
      <Modal opened={params['new'] !== undefined && !isReadOnly} onClose={close} title="Add entry">
        <EntryForm requests={requests} onDone={close} />
      </Modal>
      <Modal opened={params['import'] !== undefined && !isReadOnly} onClose={close} title="Import entries" size="lg">
        <EntryImport requests={requests} onDone={close} />
      </Modal>
      {removed && <RemoveEntries requests={requests} entries={removed} selection={selection} onClose={() => setRemoved(null)} />}
    </Section>
  )
}

function AllowNote({ requests }: { requests: FilteringRequests }) {
  return (
    <div className="note">
      <Icon name="shield" />
      <div>
        <p>
          An allow entry for an address or a domain applies only to mail whose author is proved by DMARC, or by SPF or DKIM of the author’s
          domain: anybody can write any address into From.
          {requests.canAllowNetworks && ' An entry for a network needs no proof.'}
        </p>
      </div>
    </div>
  )
}

const COLUMNS: readonly Column<FilterEntry>[] = [
  {
    header: 'Sender',
    wide: true,
    cell: (row) => (
      <span className="strong" title={row.value}>
        {row.value}
      </span>
    ),
  },
  {
    header: 'List',
    cell: (row) => (
      <span className="row row-tight">
        <Badge tone={row.list === 'allow' ? 'good' : 'bad'}>{row.list}</Badge>
        {row.enforced && <Badge tone="warn">enforced</Badge>}
      </span>
    ),
  },
  {
    header: 'Comment',
    cell: (row) => (
      <span className="party" title={row.comment}>
        {row.comment || <span className="muted">–</span>}
      </span>
    ),
  },
  {
    header: 'Hits',
    cell: (row) =>
      row.last_hit_at ? (
        <span>
          {formatNumber(row.hits)}, last <Time at={row.last_hit_at} form="ago" />
        </span>
      ) : (
        <span className="muted">none</span>
      ),
  },
  { header: 'Added', cell: (row) => <Time at={row.created_at} form="ago" /> },
]

interface BarProps {
  rows: readonly FilterEntry[]
  selection: Selection
  onRemove: (entries: readonly FilterEntry[]) => void
}

function EntryBar({ rows, selection, onRemove }: BarProps) {
  const chosen = rows.filter(({ id }) => selection.selected.has(id))
  return (
    <div className="list-bar">
      <Checkbox
        aria-label="Select all loaded entries"
        checked={chosen.length > 0 && chosen.length === rows.length}
        indeterminate={chosen.length > 0 && chosen.length < rows.length}
        onChange={(event) =>
          selection.select(
            rows.map(({ id }) => id),
            event.currentTarget.checked,
          )
        }
      />
      <span className="list-bar-text" role="status">
        {chosen.length > 0 ? `${pluralize(chosen.length, 'entry', 'entries')} selected` : 'None selected'}
      </span>
      <Button
        size="xs"
        variant="default"
        leftSection={<Icon name="trash" size={14} />}
        disabled={chosen.length === 0}
        onClick={() => onRemove(chosen)}
      >
        Remove
      </Button>
    </div>
  )
}

function RemoveEntries(props: Pick<Props, 'requests'> & { entries: readonly FilterEntry[]; selection: Selection; onClose: () => void }) {
  const { requests, entries, selection } = props
  const remove = useApiMutation({
    request: async () => {
      for (let start = 0; start < entries.length; start += PARALLEL)
        await Promise.all(entries.slice(start, start + PARALLEL).map(({ id }) => requests.removeEntry(id)))
    },
    invalidates: ['filtering'],
    message: `${pluralize(entries.length, 'entry', 'entries')} removed.`,
    onSuccess: () => {
      selection.clear()
      props.onClose()
    },
  })
  const [first] = entries
  return (
    <Confirm
      opened
      onClose={props.onClose}
      title={entries.length === 1 ? 'Remove entry' : `Remove ${pluralize(entries.length, 'entry', 'entries')}`}
      action="Remove"
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
    >
      {entries.length === 1 && first ? (
        <p className="break">
          From the next message on, {describeMatch(first)} is {first.list === 'allow' ? 'filtered by its score again' : 'no longer refused'}
          .
        </p>
      ) : (
        <div className="stack-small">
          <p>They no longer apply, from the next message on.</p>
          <p className="muted break">
            {entries
              .slice(0, 5)
              .map(({ value }) => value)
              .join(', ')}
            {entries.length > 5 && ` and ${entries.length - 5} more`}
          </p>
        </div>
      )}
    </Confirm>
  )
}
