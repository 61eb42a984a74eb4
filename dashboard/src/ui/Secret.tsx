import { CopyButton } from './Copy'

/** A secret that is shown once. */
export function Secret({ label, value }: { label: string; value: string }) {
  return (
    <div className="secret">
      <span className="secret-label">{label}</span>
      <code data-testid="secret">{value}</code>
      <CopyButton text={value} what={label.toLowerCase()} size="md" />
    </div>
  )
}
