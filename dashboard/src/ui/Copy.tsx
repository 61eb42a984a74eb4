import { ActionIcon, Tooltip } from '@mantine/core'
import { useState } from 'react'
import { Icon } from './Icon'

/** Puts `text` into the clipboard; `what` names it for those who don't see where the button stands. */
export function Copy({ text, what, size = 'sm' }: { text: string; what: string; size?: 'sm' | 'md' }) {
  const [copied, setCopied] = useState(false)
  async function copy() {
    await intoClipboard(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <Tooltip label={copied ? 'Copied' : `Copy ${what}`}>
      <ActionIcon variant="subtle" color="gray" size={size} aria-label={copied ? `Copied ${what}` : `Copy ${what}`} onClick={() => void copy()}>
        <Icon name={copied ? 'check' : 'copy'} size={15} />
      </ActionIcon>
    </Tooltip>
  )
}

/** Browsers offer a clipboard on https and loopback only; elsewhere the old way by a selection still works. */
async function intoClipboard(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'unseen'
    const dialog = document.activeElement?.closest('[role=dialog]') ?? document.body
    dialog.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
}
