import { Button, Group } from '@mantine/core'
import { Copy } from '../../ui/Copy'
import { Icon } from '../../ui/Icon'

/** Recovery codes, this once. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  return (
    <div className="note note-good" role="status">
      <Icon name="key" />
      <div>
        <p className="note-title">Your recovery codes</p>
        <p>Each lets you in once when the phone is lost. They are shown this once: keep them where you keep passwords.</p>
        <ul className="codes" aria-label="Recovery codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <Group>
          <Copy text={codes.join('\n')} what="recovery codes" size="md" />
          <Button size="xs" onClick={onDone}>
            I have kept them
          </Button>
        </Group>
      </div>
    </div>
  )
}
