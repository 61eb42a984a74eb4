import { Button, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ask, askText, client, type Schema } from '../api/client'
import { PATHS } from '../paths'
import { useAddress } from '../search'
import { bytes } from '../ui/bytes'
import { Lines } from '../ui/DataList'
import { ErrorNote } from '../ui/ErrorNote'
import { isMissing, Missing } from '../ui/Missing'
import { Icon } from '../ui/Icon'
import { Facts, Page } from '../ui/Page'

const route = getRouteApi('/inside/sandbox/$id')

type Content = Schema['SandboxContentResponse']

const FIRST = ['from', 'to', 'cc', 'reply-to', 'date']

/** A message in the sandbox, as who gets it would see it. */
export function Caught() {
  const { id } = route.useParams()
  const { data, error } = useQuery({
    queryKey: ['sandbox', 'one', id],
    queryFn: () => ask(client.GET('/sandbox/messages/{id}', { params: { path: { id } } })),
    staleTime: Infinity,
  })
  const back = <Link to={PATHS.sandbox}>← Sandbox inbox</Link>
  if (isMissing(error)) return <Missing title="No such message in the sandbox" back={back} error={error} />
  if (!data)
    return (
      <Page title="Caught message" back={back}>
        {error ? <ErrorNote error={error} /> : <Lines />}
      </Page>
    )
  return (
    <Page
      title={data.subject || '(no subject)'}
      back={back}
      actions={
        <Button component="a" href={`/api/v1/sandbox/messages/${id}/raw`} download={`${id}.eml`} variant="default" leftSection={<Icon name="down_load" size={16} />}>
          Download
        </Button>
      }
    >
      <section className="section card envelope" aria-label="Envelope">
        <Facts rows={data.header.filter((field) => FIRST.includes(field.name.toLowerCase())).map((field) => [field.name, field.value] as const)} />
      </section>
      {data.parse_error && (
        <div className="note note-warn">
          <Icon name="warn" />
          <div>
            <p className="note-title">This message could not be taken apart</p>
            <p>{data.parse_error}. Its source shows all of it.</p>
          </div>
        </div>
      )}
      {data.attachments.length > 0 && <Attachments of={data} />}
      <Views message={data} />
    </Page>
  )
}

function Views({ message }: { message: Content }) {
  const { view } = route.useSearch()
  const [, change] = useAddress()
  const views = [
    ...(message.body_html !== null ? [{ value: 'html', label: 'HTML' }] : []),
    ...(message.body_text !== null ? [{ value: 'text', label: 'Text' }] : []),
    { value: 'header', label: 'Header' },
    { value: 'source', label: 'Source' },
  ]
  const shown = views.some((each) => each.value === view) ? view : views[0]?.value
  return (
    <section className="section card" aria-label="Content">
      <SegmentedControl className="views" aria-label="View" data={views} value={shown ?? 'header'} onChange={(value) => change({ view: value })} />
      {message.truncated && <p className="soft small">It is too long to be shown whole; its source is complete.</p>}
      {shown === 'html' && <Html id={message.id} />}
      {shown === 'text' && (
        <pre tabIndex={0} aria-label="Text" className="wrap">
          {message.body_text}
        </pre>
      )}
      {shown === 'header' && <Header of={message} />}
      {shown === 'source' && <Source id={message.id} />}
    </section>
  )
}

/** The server shows it under a policy of its own; the frame has no scripts, no origin, no forms, no windows. */
function Html({ id }: { id: string }) {
  return (
    <>
      <iframe className="foreign" title="The message as HTML" sandbox="" referrerPolicy="no-referrer" src={`/api/v1/sandbox/messages/${id}/html`} />
      <p className="soft small">Shown with the images that it brings along, but without scripts, links and anything that it would fetch from elsewhere.</p>
    </>
  )
}

function Header({ of }: { of: Content }) {
  return (
    <dl className="fields">
      {of.header.map((field, index) => (
        <div key={index}>
          <dt>{field.name}</dt>
          <dd className="mono">{field.value}</dd>
        </div>
      ))}
    </dl>
  )
}

const MOST_SHOWN = 200_000

function Source({ id }: { id: string }) {
  const { data, error } = useQuery({
    queryKey: ['sandbox', 'raw', id],
    queryFn: () => askText(client.GET('/sandbox/messages/{id}/raw', { params: { path: { id } }, parseAs: 'text' })),
    staleTime: Infinity,
  })
  if (error) return <ErrorNote error={error} />
  if (data === undefined) return <Lines />
  return (
    <>
      <pre tabIndex={0} aria-label="Source">
        {data.slice(0, MOST_SHOWN)}
      </pre>
      {data.length > MOST_SHOWN && <p className="soft small">The first {bytes(MOST_SHOWN)}; download it to see the rest.</p>}
    </>
  )
}

function isNamed(html: string | null, contentId: string): boolean {
  return html?.includes(`cid:${contentId}`) ?? false
}

function Attachments({ of }: { of: Content }) {
  return (
    <section className="section card" aria-labelledby="attachments">
      <h2 id="attachments">Attachments</h2>
      <ul className="attachments">
        {of.attachments.map((each) => (
          <li key={each.number}>
            <Icon name="clip" size={16} />
            <a className="row-link break" href={`/api/v1/sandbox/messages/${of.id}/attachments/${each.number}`} download title="Save it">
              {each.filename || `Attachment ${each.number}`}
            </a>
            <span className="soft">
              {each.content_type} · {bytes(each.size)}
              {each.content_id && isNamed(of.body_html, each.content_id) && ' · shown in the HTML'}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
