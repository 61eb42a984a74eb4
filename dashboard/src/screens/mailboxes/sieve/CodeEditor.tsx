import { useId, useRef } from 'react'
import { formatMessage, type ScriptMessage } from './words'

interface Props {
  label: string
  value: string
  onChange: (value: string) => void
  errors: readonly ScriptMessage[]
  warnings: readonly ScriptMessage[]
}

/** A text field with line numbers. Errors and warnings are marked at their lines, and listed below with links to them. */
export function CodeEditor({ label, value, onChange, errors, warnings }: Props) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const numbers = useRef<HTMLDivElement>(null)
  const lines = value.split('\n')
  const toneOf = (line: number) =>
    errors.some((each) => each.line === line) ? 'code-line-bad' : warnings.some((each) => each.line === line) ? 'code-line-warn' : undefined
  function select(line: number) {
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0)
    field.current?.focus()
    field.current?.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  }
  const all = [...errors.map((each) => ({ ...each, kind: 'error' })), ...warnings.map((each) => ({ ...each, kind: 'warning' }))]
  return (
    <div className="stack">
      <label htmlFor={id} className="strong">
        {label}
      </label>
      <div className="code-editor">
        <div ref={numbers} className="code-lines" aria-hidden>
          {lines.map((_, index) => (
            <span key={index} className={toneOf(index + 1)}>
              {index + 1}
            </span>
          ))}
        </div>
        <textarea
          ref={field}
          id={id}
          className="code-text"
          value={value}
          rows={16}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          aria-invalid={errors.length > 0 || undefined}
          aria-describedby={`${id}-messages`}
          onChange={(event) => onChange(event.currentTarget.value)}
          onScroll={(event) => {
            if (numbers.current) numbers.current.scrollTop = event.currentTarget.scrollTop
          }}
        />
      </div>
      <div id={`${id}-messages`} aria-live="polite">
        {all.length > 0 && (
          <ul className="code-messages" aria-label="Errors and warnings">
            {all.map((each, index) => (
              <li key={index} className={each.kind === 'error' ? 'code-line-bad' : 'code-line-warn'}>
                {each.line === null ? (
                  each.message
                ) : (
                  <button type="button" className="link-like" onClick={() => select(each.line ?? 1)}>
                    {formatMessage(each)}
                  </button>
                )}
                {each.kind === 'warning' && ' (warning)'}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}
