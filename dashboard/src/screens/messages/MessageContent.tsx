import { SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { Icon } from '../../ui/Icon'
import { formatBytes } from '../../units'

export type Content = Schema['MessageContentResponse']

/** `path`: that of the message in the API, without its parts. */
interface Props {
  content: Content
  path: string
}

/** Shown instead of the text and HTML of a message that the server could not parse. */
export function ParseError({ content }: { content: Content }) {
  if (!content.parse_error) return null
  return (
    <div className="note note-warn">
      <Icon name="warn" />
      <div>
        <p className="note-title">This message could not be parsed</p>
        <p>{content.parse_error}. See its source.</p>
      </div>
    </div>
  )
}

/** The message as its recipient sees it, as HTML or text, with its attachments. */
export function Body({ content, path }: Props) {
  const hasHtml = content.body_html !== null
  const hasText = content.body_text !== null
  const [view, setView] = useState(hasHtml ? 'html' : 'text')
  return (
    <>
      <ParseError content={content} />
      {hasHtml && hasText && (
        <SegmentedControl
          className="views"
          aria-label="View"
          data={[
            { value: 'html', label: 'HTML' },
            { value: 'text', label: 'Text' },
          ]}
          value={view}
          onChange={setView}
        />
      )}
      {content.truncated && <p className="muted small">Truncated. The source is complete.</p>}
      {hasHtml && view === 'html' && <Html path={path} />}
      {hasText && view === 'text' && <Text content={content} />}
      {!hasHtml && !hasText && !content.parse_error && <p className="muted">The message has no text.</p>}
      {content.attachments.length > 0 && <Attachments content={content} path={path} />}
    </>
  )
}

export function Text({ content }: { content: Content }) {
  return (
    <pre tabIndex={0} aria-label="Text" className="wrap">
      {content.body_text}
    </pre>
  )
}

/** The server sets a strict content security policy; the frame allows no scripts, origin, forms or windows. */
export function Html({ path }: { path: string }) {
  return (
    <>
      <iframe className="foreign" title="The message as HTML" sandbox="" referrerPolicy="no-referrer" src={`/api/v1${path}/html`} />
      <p className="muted small">Embedded images are shown. Scripts, links and remote content are blocked.</p>
    </>
  )
}

export function Headers({ content }: { content: Content }) {
  return (
    <dl className="fields">
      {content.header.map((field, index) => (
        <div key={index}>
          <dt>{field.name}</dt>
          <dd className="mono">{field.value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Whether the HTML shows the part with this Content-ID (RFC 2392). */
function isInline(html: string | null, contentId: string): boolean {
  return html?.includes(`cid:${contentId}`) ?? false
}

export function Attachments({ content, path }: Props) {
  return (
    <section className="section card" aria-labelledby="attachments">
      <h2 id="attachments">Attachments</h2>
      <ul className="attachments">
        {content.attachments.map((each) => (
          <li key={each.number}>
            <Icon name="clip" size={16} />
            <a className="row-link break" href={`/api/v1${path}/attachments/${each.number}`} download title="Download">
              {each.filename || `Attachment ${each.number}`}
            </a>
            <span className="muted">
              {each.content_type} · {formatBytes(each.size)}
              {each.content_id && isInline(content.body_html, each.content_id) && ' · inline'}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
