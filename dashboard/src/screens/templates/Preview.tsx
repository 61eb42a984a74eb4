import { SegmentedControl } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Schema } from '../../api/client'
import { HtmlFrame } from '../../ui/HtmlFrame'
import { Icon } from '../../ui/Icon'

interface Props {
  /** What is rendered; a change renders again. */
  input: unknown
  queryKey: readonly unknown[]
  request: () => Promise<Schema['RenderedTemplate']>
}

/** The rendered message, in a box of fixed size. While it is edited, the last preview without errors stays visible. */
export function Preview({ input, queryKey, request }: Props) {
  const [view, setView] = useState<'html' | 'text'>('html')
  const [debounced] = useDebouncedValue(JSON.stringify(input), 300)
  const { data, error } = useQuery({
    queryKey: ['templates', 'preview', ...queryKey, debounced],
    queryFn: request,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: Infinity,
    gcTime: 10_000,
  })
  const shown = data?.html_body === null ? 'text' : view
  return (
    <section className="template-preview" aria-label="Preview">
      <div className="between">
        <h2 className="field-label">Preview</h2>
        <SegmentedControl
          size="xs"
          aria-label="Preview format"
          value={shown}
          onChange={(value) => setView(value as 'html' | 'text')}
          data={[
            { value: 'html', label: 'HTML', disabled: data?.html_body === null },
            { value: 'text', label: data?.text_derived ? 'Text (from HTML)' : 'Text' },
          ]}
        />
      </div>
      <div role="group" className="strong break template-subject" aria-label="Rendered subject">
        {data?.subject}
      </div>
      {shown === 'html' ? (
        <HtmlFrame html={data?.html_body ?? ''} title="The rendered HTML" />
      ) : (
        <pre className="wrap foreign" tabIndex={0} aria-label="The rendered text">
          {data?.text_body}
        </pre>
      )}
      <div className={`note template-error ${error ? 'note-warn' : ''}`} role="status" tabIndex={0}>
        <Icon name={error ? 'warn' : 'info'} />
        <div>{error ? <p className="break">{error.message}</p> : <p>Values are the examples of the variables.</p>}</div>
      </div>
    </section>
  )
}
