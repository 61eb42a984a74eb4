import { Kbd, Modal, Switch, Table } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { NAVIGATION } from '../navigation'
import { PATHS } from '../paths'

const GO = new Map(NAVIGATION.flatMap((group) => group.entries.flatMap((entry) => (entry.key ? [[entry.key, entry] as const] : []))))

/** Keys that work wherever nothing is being typed; `?` shows them. */
export function Shortcuts({ onPalette }: { onPalette: () => void }) {
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const going = useRef(0)
  // WCAG 2.1.4: keys without Ctrl can be switched off, for those whose speech or hand presses them unasked.
  const [isOn, setOn] = useLocalStorage({ key: 'mailkeep-shortcuts', defaultValue: true, getInitialValueInEffect: false })
  useEffect(() => {
    function press(event: KeyboardEvent) {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        // The palette would lead away from what is shown only once.
        if (!document.querySelector('[data-holds-secret]')) onPalette()
        return
      }
      if (!isOn || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const entry = event.timeStamp - going.current < 1500 ? GO.get(event.key) : undefined
      going.current = event.key === 'g' ? event.timeStamp : 0
      if (entry) {
        event.preventDefault()
        void navigate({ to: PATHS[entry.screen] })
      } else if (event.key === 'c') {
        event.preventDefault()
        void navigate({ to: PATHS.send })
      } else if (event.key === '/') {
        event.preventDefault()
        const own = document.querySelector<HTMLElement>('[data-main-search]')
        if (own) own.focus()
        else onPalette()
      } else if (event.key === '?') {
        event.preventDefault()
        setOpen(true)
      }
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [navigate, onPalette, isOn])
  useEffect(() => {
    const show = () => setOpen(true)
    window.addEventListener('mailkeep:shortcuts', show)
    return () => window.removeEventListener('mailkeep:shortcuts', show)
  }, [])
  return (
    <Modal opened={isOpen} onClose={() => setOpen(false)} title="Keyboard shortcuts">
      <Switch label="Shortcuts of single keys" checked={isOn} onChange={(event) => setOn(event.currentTarget.checked)} mb="md" />
      <Table>
        <Table.Tbody>
          <Line keys={['Ctrl', 'K']} does="Search everything" />
          <Line keys={['/']} does="Search this list" />
          <Line keys={['c']} does="Write a message" />
          {[...GO.values()].map((entry) => (
            <Line key={entry.screen} keys={['g', entry.key ?? '']} does={`Go to ${entry.label}`} />
          ))}
          <Line keys={['?']} does="Show this" />
        </Table.Tbody>
      </Table>
    </Modal>
  )
}

function Line({ keys, does }: { keys: readonly string[]; does: string }) {
  return (
    <Table.Tr>
      <Table.Td>{does}</Table.Td>
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
