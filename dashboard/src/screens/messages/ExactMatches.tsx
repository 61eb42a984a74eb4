import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'

type Message = Schema['MessageResponse']

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const NAMES = { message_id: 'Message-ID', queue_id: 'queue ID', tag: 'tag', id: 'ID' } as const

/** Messages whose ID, Message-ID, queue ID or tag equals the searched word. The line is always shown. */
export function ExactMatches({ text }: { text: string }) {
  const word = text.trim().replace(/^<|>$/g, '')
  const isWord = /^\S{3,}$/.test(word)
  const searchBy = (name: 'message_id' | 'queue_id' | 'tag') => ({
    queryKey: ['messages', 'exact', name, word],
    queryFn: async () =>
      (await fetchPage(client.GET('/messages', { params: { query: { [name]: word, limit: 2 } } }))).rows.map((row) => ({ row, name })),
    enabled: isWord,
    retry: false,
  })
  const matches = useQueries({
    queries: [
      searchBy('message_id'),
      searchBy('queue_id'),
      searchBy('tag'),
      {
        queryKey: ['messages', 'exact', 'id', word],
        queryFn: async () => [
          { row: await fetchData(client.GET('/messages/{id}', { params: { path: { id: word } } })), name: 'id' as const },
        ],
        enabled: UUID.test(word),
        retry: false,
      },
    ],
  }).flatMap(({ data }) => (data?.length ? [data] : []))
  return (
    <div className="exact" role="status" tabIndex={0}>
      <div>
        {matches.length === 0 && <p>Words match addresses and subjects. IDs and tags must be complete.</p>}
        {matches.map((rows) => (
          <Match key={rows[0]?.name} rows={rows} word={word} />
        ))}
      </div>
    </div>
  )
}

function Match({ rows, word }: { rows: readonly { row: Message; name: keyof typeof NAMES }[]; word: string }) {
  const [first] = rows
  if (!first) return null
  return (
    <p>
      Exact match by {NAMES[first.name]}:{' '}
      {rows.length === 1 ? (
        <Link to={PATHS.message} params={{ id: first.row.id }}>
          {first.row.subject || '(no subject)'}
        </Link>
      ) : (
        <Link to={PATHS.messages} search={{ [first.name]: word }}>
          View messages
        </Link>
      )}
    </p>
  )
}
