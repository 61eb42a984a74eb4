import { Copy } from './Copy'

/** Something that is shown this once. */
export function Secret({ label, value }: { label: string; value: string }) {
  return (
    <div className="secret">
      <span className="secret-label">{label}</span>
      <code data-testid="secret">{value}</code>
      <Copy text={value} what={label.toLowerCase()} size="md" />
    </div>
  )
}
