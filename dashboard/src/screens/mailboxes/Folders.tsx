import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Allowed } from '../../access/Allowed'
import { client, fetchData, type Schema } from '../../api/client'
import { formatNumber } from '../../locale'
import { formatBytes, pluralize } from '../../units'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { useApiMutation } from '../../ui/useForm'
import { Section } from '../../ui/Page'

/** The folders of a mailbox with messages and size, and the recalculation of its usage. */
export function Folders({ mailbox }: { mailbox: Schema['MailboxRecord'] }) {
  const path = { id: mailbox.id }
  const { data, error } = useQuery({
    queryKey: ['mailboxes', 'folders', mailbox.id],
    queryFn: () => fetchData(client.GET('/mailboxes/{id}/folders', { params: { path } })),
  })
  const recalculate = useApiMutation({
    request: () => fetchData(client.POST('/mailboxes/{id}/recalculate', { params: { path } })),
    invalidates: ['mailboxes', 'domains'],
    message: (usage) => `Recalculated: ${pluralize(usage.message_count, 'message')}, ${formatBytes(usage.used_bytes)}.`,
  })
  return (
    <Section
      title="Folders"
      lead="The owner gets mail when 80 and 95 percent of the quota are used."
      actions={
        <Allowed action="mailbox.write">
          <Button size="xs" variant="default" loading={recalculate.isPending} onClick={() => recalculate.mutate(undefined)}>
            Recalculate usage
          </Button>
        </Allowed>
      }
    >
      <ErrorNote error={recalculate.error} />
      {error ? (
        <ErrorNote error={error} />
      ) : data?.length === 0 ? (
        <p className="muted">No folders yet. The first message or sign-in by IMAP creates them.</p>
      ) : data ? (
        <div className="list-card">
          <table className="list" role="table" aria-label="Folders">
            <thead role="rowgroup">
              <tr role="row">
                <th role="columnheader" scope="col">
                  Folder
                </th>
                <th role="columnheader" scope="col" className="right">
                  Messages
                </th>
                <th role="columnheader" scope="col" className="right">
                  Unread
                </th>
                <th role="columnheader" scope="col" className="right">
                  Size
                </th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              {data.map((folder) => (
                <tr key={folder.name} role="row">
                  <td role="cell" data-label="Folder">
                    <span className="strong break">{folder.name}</span>
                  </td>
                  <td role="cell" data-label="Messages" className="right">
                    {formatNumber(folder.messages)}
                  </td>
                  <td role="cell" data-label="Unread" className="right">
                    {formatNumber(folder.unseen)}
                  </td>
                  <td role="cell" data-label="Size" className="right">
                    {formatBytes(folder.bytes)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <LoadingLines />
      )}
    </Section>
  )
}
