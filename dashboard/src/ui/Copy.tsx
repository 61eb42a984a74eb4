import { ActionIcon } from '@mantine/core'
import { useState } from 'react'
import { Hint } from './Hint'
import { Icon } from './Icon'

/** Copies `text`; `what` names it for screen readers. */
export function CopyButton(props: { text: string; what: string; size?: 'sm' | 'md'; isDisabled?: boolean }) {
  const { text, what, size = 'sm', isDisabled = false } = props
  const [copied, setCopied] = useState(false)
  async function copy() {
    await writeClipboard(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <Hint label={copied ? 'Copied' : `Copy ${what}`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={size}
        disabled={isDisabled}
        aria-label={copied ? `Copied ${what}` : `Copy ${what}`}
        onClick={() => void copy()}
      >
        <Icon name={copied ? 'check' : 'copy'} size={15} />
      </ActionIcon>
    </Hint>
  )
}

/** A value with a button that copies it. */
export function CopyableCode({ value, what }: { value: string; what: string }) {
  return (
    <span className="copyable">
      <code>{value}</code>
      <CopyButton text={value} what={what} />
    </span>
  )
}

/** Browsers offer the clipboard API on HTTPS and localhost only; elsewhere a selection is copied. */
export async function writeClipboard(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'visually-hidden'
    const dialog = document.activeElement?.closest('[role=dialog]') ?? document.body
    dialog.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
}
