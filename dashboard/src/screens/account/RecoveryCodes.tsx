import { CopyButton } from '../../ui/Copy'
import { SecretModal } from '../../ui/SecretModal'

/** Shows new recovery codes once; null: nothing to show. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[] | null; onDone: () => void }) {
  return (
    <SecretModal opened={codes !== null} onDone={onDone} title="Recovery codes" action="I've saved them">
      <p>Each code signs you in once if you lose your device. They are shown only once: save them in your password manager.</p>
      <ul className="codes" aria-label="Recovery codes">
        {codes?.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div>
        <CopyButton text={(codes ?? []).join('\n')} what="recovery codes" size="md" />
      </div>
    </SecretModal>
  )
}
