import { useEffect, useRef, useState } from 'react'

/**
 * Shows HTML of a message. The page in the frame has a policy of its own, which allows styles but no scripts and no
 * requests; the frame may neither run scripts nor open windows, so that the HTML does nothing.
 */
export function HtmlFrame({ html, title }: { html: string; title: string }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [loads, setLoads] = useState(0)
  useEffect(() => {
    const page = frame.current?.contentDocument
    if (page && loads) page.documentElement.innerHTML = html
  }, [html, loads])
  return (
    <iframe
      ref={frame}
      className="foreign"
      title={title}
      sandbox="allow-same-origin"
      referrerPolicy="no-referrer"
      src="/message-frame"
      onLoad={() => setLoads((before) => before + 1)}
    />
  )
}
