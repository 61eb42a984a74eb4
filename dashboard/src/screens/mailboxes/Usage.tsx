import { Progress } from '@mantine/core'
import type { Schema } from '../../api/client'
import { formatBytes } from '../../units'

/** Used storage and quota. */
export function Usage({ mailbox }: { mailbox: Pick<Schema['MailboxRecord'], 'used_bytes' | 'quota_bytes'> }) {
  const { used_bytes: used, quota_bytes: quota } = mailbox
  const percent = quota ? Math.min(100, (used / quota) * 100) : 0
  return (
    <div className="usage">
      <span>
        {formatBytes(used)} {quota > 0 && <span className="muted">of {formatBytes(quota)}</span>}
      </span>
      {quota > 0 && (
        <Progress
          value={percent}
          size={5}
          color={percent >= 95 ? 'red' : percent >= 80 ? 'yellow' : 'blue'}
          aria-label={`${Math.round(percent)} % of quota used`}
        />
      )}
    </div>
  )
}
