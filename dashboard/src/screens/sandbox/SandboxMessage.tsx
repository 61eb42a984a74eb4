import { Button, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { fetchData, fetchText, client } from '../../api/client'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { formatBytes } from '../../units'
import { LoadingLines } from '../../ui/DataList'
import { DetailPage } from '../../ui/DetailPage'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Facts } from '../../ui/Page'
import { Attachments, type Content, Headers, Html, ParseError, Text } from '../messages/MessageContent'

const route = getRouteApi('/app/sandbox/$id')

const ENVELOPE_FIELDS = ['from', 'to', 'cc', 'reply-to', 'date']

/** A captured message as its recipient would see it. */
export function SandboxMessage() {
  const { id } = route.useParams()
  const query = useQuery({
    queryKey: ['sandbox', 'one', id],
    queryFn: () => fetchData(client.GET('/sandbox/messages/{id}', { params: { path: { id } } })),
    staleTime: Infinity,
  })
  return (
    <DetailPage
      kind="Message"
      list={{ to: PATHS.sandbox, label: 'Sandbox' }}
      query={query}
      title={(data) => data.subject || '(no subject)'}
      actions={() => (
        <Button
          component="a"
          href={`/api/v1/sandbox/messages/${id}/raw`}
          download={`${id}.eml`}
          variant="default"
          leftSection={<Icon name="down_load" size={16} />}
        >
          Download .eml
        </Button>
      )}
    >
      {(data) => (
        <>
          <section className="section card envelope" aria-label="Envelope">
            <Facts
              rows={data.header
                .filter((field) => ENVELOPE_FIELDS.includes(field.name.toLowerCase()))
                .map((field) => [field.name, field.value] as const)}
            />
          </section>
          <ParseError content={data} />
          {data.attachments.length > 0 && <Attachments content={data} path={`/sandbox/messages/${id}`} />}
          <Views message={data} />
        </>
      )}
    </DetailPage>
  )
}

function Views({ message }: { message: Content }) {
  const { view } = route.useSearch()
  const [, change] = useSearchParams()
  const views = [
    ...(message.body_html !== null ? [{ value: 'html', label: 'HTML' }] : []),
    ...(message.body_text !== null ? [{ value: 'text', label: 'Text' }] : []),
    { value: 'header', label: 'Headers' },
    { value: 'source', label: 'Source' },
  ]
  const shown = views.some((each) => each.value === view) ? view : views[0]?.value
  return (
    <section className="section card" aria-label="Content">
      <SegmentedControl
        className="views"
        aria-label="View"
        data={views}
        value={shown ?? 'header'}
        onChange={(value) => change({ view: value })}
      />
      {message.truncated && <p className="muted small">Truncated. The source is complete.</p>}
      {shown === 'html' && <Html path={`/sandbox/messages/${message.id}`} />}
      {shown === 'text' && <Text content={message} />}
      {shown === 'header' && <Headers content={message} />}
      {shown === 'source' && <Source id={message.id} />}
    </section>
  )
}

const MAX_SHOWN = 200_000

function Source({ id }: { id: string }) {
  const { data, error } = useQuery({
    queryKey: ['sandbox', 'raw', id],
    queryFn: () => fetchText(client.GET('/sandbox/messages/{id}/raw', { params: { path: { id } }, parseAs: 'text' })),
    staleTime: Infinity,
  })
  if (error) return <ErrorNote error={error} />
  if (data === undefined) return <LoadingLines />
  return (
    <>
      <pre tabIndex={0} aria-label="Source">
        {data.slice(0, MAX_SHOWN)}
      </pre>
      {data.length > MAX_SHOWN && <p className="muted small">The first {formatBytes(MAX_SHOWN)}. Download the message to see the rest.</p>}
    </>
  )
}
