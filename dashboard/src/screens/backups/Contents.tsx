import { Button, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Allowed } from '../../access/Allowed'
import { client, fetchPage, type Schema } from '../../api/client'
import { formatNumber } from '../../locale'
import { useSearchParams, useTextParam } from '../../search'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { Time } from '../../ui/Time'
import { formatBytes } from '../../units'
import { type Backup, KEY } from './queries'
import { RestoreDialog, type RestoreSource } from './RestoreDialog'
import { toMessageId } from './texts'

type Entry = Schema['BackupContentsRecord']

/** Columns that entries of a type do not have. */
const ABSENT: Readonly<Record<Entry['type'], readonly string[]>> = {
  domain: ['Folder', 'Stored'],
  mailbox: ['Folder', 'Stored', 'Mailboxes'],
  folder: ['Stored', 'Mailboxes'],
  message: ['Mailboxes', 'Messages'],
}

/** Browse domains, mailboxes and folders of a backup, or find a message. What is shown is in the URL. */
export function Contents({ backup }: { backup: Backup }) {
  const [{ domain, mailbox, message_id: messageId }, change] = useSearchParams()
  const [text, setText] = useTextParam('message_id', 500)
  const [source, setSource] = useState<RestoreSource | null>(null)
  const filters = messageId
    ? { message_id: toMessageId(messageId) }
    : mailbox
      ? { mailbox_id: mailbox }
      : domain
        ? { domain_id: domain }
        : {}
  const absent = ABSENT[messageId ? 'message' : mailbox ? 'folder' : domain ? 'mailbox' : 'domain']
  const back = mailbox ? { mailbox: undefined } : { domain: undefined }
  return (
    <section className="stack">
      <div className="between">
        <h2>Contents</h2>
        {(mailbox ?? domain) && !messageId && (
          <Button variant="default" size="xs" onClick={() => change(back)}>
            {mailbox ? '← Mailboxes' : '← Domains'}
          </Button>
        )}
      </div>
      <TextInput
        label="Find a message by its Message-ID"
        placeholder="<report@example.com>"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        spellCheck={false}
      />
      <DataList
        label="Contents of the backup"
        queryKey={[KEY, backup.id, 'contents', filters]}
        load={({ cursor, limit }) =>
          fetchPage(
            client.GET('/backups/{id}/contents', {
              params: { path: { id: backup.id }, query: { limit, ...filters, ...(cursor && { cursor }) } },
            }),
          )
        }
        columns={columns(change, setSource).filter(({ header }) => !absent.includes(header))}
        rowKey={(row) => [row.type, row.domain_id, row.mailbox_id, row.folder, row.date].join()}
        empty={
          messageId ? (
            <EmptyState icon="box" title="No such message">
              No message with this Message-ID is in the backup.
            </EmptyState>
          ) : (
            <EmptyState icon="box" title="Nothing here">
              The backup has nothing at this place.
            </EmptyState>
          )
        }
      />
      {source && <RestoreDialog backup={backup} source={source} onClose={() => setSource(null)} />}
    </section>
  )
}

function columns(
  change: (changes: Record<string, string | undefined>) => void,
  onRestore: (source: RestoreSource) => void,
): readonly Column<Entry>[] {
  return [
    {
      header: 'Name',
      cell: (row) => {
        const target = row.type === 'domain' ? { domain: row.domain_id } : row.type === 'mailbox' ? { mailbox: row.mailbox_id } : null
        if (!target) return <span className="break">{row.name}</span>
        const next = Object.fromEntries(Object.entries(target).map(([name, value]) => [name, value ?? undefined]))
        return (
          <button type="button" className="link-like break" onClick={() => change(next)}>
            {row.name}
          </button>
        )
      },
    },
    { header: 'Folder', cell: (row) => row.folder },
    { header: 'Stored', cell: (row) => row.date && <Time at={row.date} /> },
    { header: 'Mailboxes', align: 'right', cell: (row) => row.mailboxes !== null && formatNumber(row.mailboxes) },
    { header: 'Messages', align: 'right', cell: (row) => row.messages !== null && formatNumber(row.messages) },
    { header: 'Size', align: 'right', cell: (row) => formatBytes(row.size_bytes) },
    {
      header: '',
      align: 'right',
      cell: (row) => {
        const id = row.type === 'domain' ? row.domain_id : row.type === 'mailbox' || row.type === 'message' ? row.mailbox_id : null
        if (!id) return null
        const scope = row.type === 'domain' ? 'domain' : 'mailbox'
        return (
          <Allowed action="backup.write">
            <Group justify="flex-end">
              <Button
                size="xs"
                variant="default"
                aria-label={`Restore ${row.name}`}
                onClick={() => onRestore({ scope, id, name: row.name })}
              >
                Restore …
              </Button>
            </Group>
          </Allowed>
        )
      },
    },
  ]
}
