import { CopyButton } from './Copy'

/** Data as JSON, always shown as text. */
export function Json({ value, what }: { value: unknown; what: string }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <div className="json">
      <pre tabIndex={0} aria-label={what} className="wrap">
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  )
}
