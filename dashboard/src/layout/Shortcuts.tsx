import { Kbd, Modal, Switch, Table } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { NAVIGATION } from '../navigation'
import { PATHS } from '../paths'

const SCREEN_KEYS = new Map(
  NAVIGATION.flatMap((group) => group.entries.flatMap((entry) => (entry.key ? [[entry.key, entry] as const] : []))),
)

/** Keyboard shortcuts, active while no text field has the focus; `?` lists them. */
export function Shortcuts({ onSearch }: { onSearch: () => void }) {
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const lastG = useRef(-Infinity) // the time of the last `g`, in milliseconds since the page loaded
  // WCAG 2.1.4: single-key shortcuts can be turned off, for users of speech input.
  const [isOn, setOn] = useLocalStorage({ key: 'mailkeep-shortcuts', defaultValue: true, getInitialValueInEffect: false })
  useEffect(() => {
    function press(event: KeyboardEvent) {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        // The palette would close a dialog with a secret that is shown once.
        if (!document.querySelector('[data-holds-secret]')) onSearch()
        return
      }
      if (!isOn || event.key === 'Shift' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const entry = event.timeStamp - lastG.current < 1500 ? SCREEN_KEYS.get(event.key) : undefined
      lastG.current = event.key === 'g' ? event.timeStamp : -Infinity
      if (entry) {
        event.preventDefault()
        void navigate({ to: PATHS[entry.screen] })
      } else if (event.key === 'c') {
        event.preventDefault()
        void navigate({ to: PATHS.send })
      } else if (event.key === '/') {
        event.preventDefault()
        const searchField = document.querySelector<HTMLElement>('[data-main-search]')
        if (searchField) searchField.focus()
        else onSearch()
      } else if (event.key === '?') {
        event.preventDefault()
        setOpen(true)
      }
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [navigate, onSearch, isOn])
  useEffect(() => {
    const show = () => setOpen(true)
    window.addEventListener('mailkeep:shortcuts', show)
    return () => window.removeEventListener('mailkeep:shortcuts', show)
  }, [])
  return (
    <Modal opened={isOpen} onClose={() => setOpen(false)} title="Keyboard shortcuts">
      <Switch label="Single-key shortcuts" checked={isOn} onChange={(event) => setOn(event.currentTarget.checked)} mb="md" />
      <Table>
        <Table.Tbody>
          <ShortcutRow keys={['Ctrl', 'K']} description="Search everything" />
          <ShortcutRow keys={['/']} description="Search this list" />
          <ShortcutRow keys={['c']} description="Send a message" />
          {[...SCREEN_KEYS.values()].map((entry) => (
            <ShortcutRow key={entry.screen} keys={['g', entry.key ?? '']} description={`Go to ${entry.label}`} />
          ))}
          <ShortcutRow keys={['?']} description="Show keyboard shortcuts" />
        </Table.Tbody>
      </Table>
    </Modal>
  )
}

function ShortcutRow({ keys, description }: { keys: readonly string[]; description: string }) {
  return (
    <Table.Tr>
      <Table.Td>{description}</Table.Td>
      <Table.Td className="right">
        {keys.map((key) => (
          <Kbd key={key} className="key">
            {key}
          </Kbd>
        ))}
      </Table.Td>
    </Table.Tr>
  )
}

function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector('[role=dialog]')) return true
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('[role=menu],[role=listbox]') !== null)
  )
}
