import { Copy } from '../../ui/Copy'
import { SecretModal } from '../../ui/SecretModal'

/** Recovery codes, this once; null where there are none to show. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[] | null; onDone: () => void }) {
  return (
    <SecretModal opened={codes !== null} onDone={onDone} title="Your recovery codes" action="I have kept them">
      <p>Each code signs you in once when the phone is lost. They are shown only now: keep them where you keep passwords.</p>
      <ul className="codes" aria-label="Recovery codes">
        {codes?.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div>
        <Copy text={(codes ?? []).join('\n')} what="recovery codes" size="md" />
      </div>
    </SecretModal>
  )
}
