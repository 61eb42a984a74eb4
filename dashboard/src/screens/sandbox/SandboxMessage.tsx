import { Button, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { fetchData, fetchText, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { formatBytes } from '../../units'
import { LoadingLines } from '../../ui/DataList'
import { DetailPage } from '../../ui/DetailPage'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Facts } from '../../ui/Page'

const route = getRouteApi('/app/sandbox/$id')

type Content = Schema['SandboxContentResponse']

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
          {data.parse_error && (
            <div className="note note-warn">
              <Icon name="warn" />
              <div>
                <p className="note-title">This message could not be parsed</p>
                <p>{data.parse_error}. See its source.</p>
              </div>
            </div>
          )}
          {data.attachments.length > 0 && <Attachments message={data} />}
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
      {shown === 'html' && <Html id={message.id} />}
      {shown === 'text' && (
        <pre tabIndex={0} aria-label="Text" className="wrap">
          {message.body_text}
        </pre>
      )}
      {shown === 'header' && <Header message={message} />}
      {shown === 'source' && <Source id={message.id} />}
    </section>
  )
}

/** The server sets a strict content security policy; the frame allows no scripts, origin, forms or windows. */
function Html({ id }: { id: string }) {
  return (
    <>
      <iframe
        className="foreign"
        title="The message as HTML"
        sandbox=""
        referrerPolicy="no-referrer"
        src={`/api/v1/sandbox/messages/${id}/html`}
      />
      <p className="muted small">Embedded images are shown. Scripts, links and remote content are blocked.</p>
    </>
  )
}

function Header({ message }: { message: Content }) {
  return (
    <dl className="fields">
      {message.header.map((field, index) => (
        <div key={index}>
          <dt>{field.name}</dt>
          <dd className="mono">{field.value}</dd>
        </div>
      ))}
    </dl>
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

/** Whether the HTML shows the part with this Content-ID (RFC 2392). */
function isInline(html: string | null, contentId: string): boolean {
  return html?.includes(`cid:${contentId}`) ?? false
}

function Attachments({ message }: { message: Content }) {
  return (
    <section className="section card" aria-labelledby="attachments">
      <h2 id="attachments">Attachments</h2>
      <ul className="attachments">
        {message.attachments.map((each) => (
          <li key={each.number}>
            <Icon name="clip" size={16} />
            <a
              className="row-link break"
              href={`/api/v1/sandbox/messages/${message.id}/attachments/${each.number}`}
              download
              title="Download"
            >
              {each.filename || `Attachment ${each.number}`}
            </a>
            <span className="muted">
              {each.content_type} · {formatBytes(each.size)}
              {each.content_id && isInline(message.body_html, each.content_id) && ' · inline'}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
