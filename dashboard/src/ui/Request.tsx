import { ActionIcon, Button, Modal, SegmentedControl, Select, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { useCalls } from '../api/calls'
import { type ApiCall, type Language, LANGUAGES, snippet } from '../snippets'
import { Copy } from './Copy'
import { Icon } from './Icon'

/** One call of the API in curl, Python and JavaScript. */
export function Snippet({ call }: { call: ApiCall }) {
  const [language, setLanguage] = useState<Language>(chosen)
  const text = snippet(language, call, `${location.origin}/api/v1`)
  function choose(value: string) {
    chosen = value as Language
    setLanguage(chosen)
  }
  return (
    <div className="stack">
      <div className="between">
        <SegmentedControl size="sm" aria-label="Language" data={LANGUAGES.map(({ value, label }) => ({ value, label }))} value={language} onChange={choose} />
        <Copy text={text} what="request" size="md" />
      </div>
      <pre tabIndex={0} aria-label="Request" data-testid="snippet">
        <code>{text}</code>
      </pre>
      <p className="soft small">
        Put an API key into <code>MAILKEEP_KEY</code>. What else there is to give and to get: <a href="/docs">API reference</a>.
      </p>
    </div>
  )
}

let chosen: Language = 'curl'

/** Shows what is about to be done, or what is on the screen, as a request; `call` may have to be made first. */
export function RequestButton({ call }: { call: ApiCall | (() => Promise<ApiCall>) }) {
  const [shown, setShown] = useState<ApiCall | null>(null)
  async function open() {
    setShown(typeof call === 'function' ? await call() : call)
  }
  return (
    <>
      <Button mr="auto" variant="default" leftSection={<Icon name="code" size={16} />} onClick={() => void open()}>
        As a request
      </Button>
      <Modal opened={shown !== null} onClose={() => setShown(null)} title="As a request" size="xl">
        {shown && <Snippet call={shown} />}
      </Modal>
    </>
  )
}

/** In the frame of every screen: what it has asked of the API, and what was changed on it. */
export function ScreenRequests() {
  const [isOpen, open] = useDisclosure(false)
  return (
    <>
      <Tooltip label="This screen as requests">
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="This screen as requests" onClick={open.open}>
          <Icon name="code" />
        </ActionIcon>
      </Tooltip>
      <Modal opened={isOpen} onClose={open.close} title="This screen as requests" size="xl">
        {isOpen && <Calls />}
      </Modal>
    </>
  )
}

function Calls() {
  const calls = useCalls()
  const [chosenName, choose] = useState<string | null>(null)
  const call = calls.find((each) => nameOf(each) === chosenName) ?? calls[0]
  if (!call) return <p className="soft">This screen shows nothing of the API.</p>
  return (
    <div className="stack">
      <p className="soft">Whatever the dashboard does, your programs can do too: it has no other way than the API.</p>
      <Select label="Request" data={[...new Set(calls.map(nameOf))]} value={nameOf(call)} onChange={choose} allowDeselect={false} />
      <Snippet call={call} />
    </div>
  )
}

function nameOf(call: ApiCall): string {
  const query = new URLSearchParams(Object.entries(call.query ?? {}).map(([name, value]) => [name, String(value)])).toString()
  return `${call.method} ${call.path}${query && `?${query}`}`
}
