import { ActionIcon, Button, Modal, SegmentedControl, Select, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { useCalls } from '../api/recordedCalls'
import { type ApiCall, type Language, LANGUAGES, writeSnippet } from '../snippets'
import { CopyButton } from './Copy'
import { Icon } from './Icon'

/** One API request in curl, Python and JavaScript. */
export function RequestSnippet({ call }: { call: ApiCall }) {
  const [language, setLanguage] = useState<Language>(lastLanguage)
  const text = writeSnippet(language, call, `${location.origin}/api/v1`)
  function choose(value: string) {
    lastLanguage = value as Language
    setLanguage(lastLanguage)
  }
  return (
    <div className="stack">
      <div className="between">
        <SegmentedControl
          size="sm"
          aria-label="Language"
          data={LANGUAGES.map(({ value, label }) => ({ value, label }))}
          value={language}
          onChange={choose}
        />
        <CopyButton text={text} what="request" size="md" />
      </div>
      <pre tabIndex={0} aria-label="Request" data-testid="snippet">
        <code>{text}</code>
      </pre>
      <p className="muted small">
        Set <code>MAILKEEP_KEY</code> to an API key. See the <a href="/docs">API reference</a>.
      </p>
    </div>
  )
}

/** Kept for the next snippet, until the page is reloaded. */
let lastLanguage: Language = 'curl'

/** Shows the request that a form will send; `call` may build it asynchronously. */
export function RequestButton({ call }: { call: ApiCall | (() => Promise<ApiCall>) }) {
  const [opened, setOpened] = useState<ApiCall | null>(null)
  async function open() {
    setOpened(typeof call === 'function' ? await call() : call)
  }
  return (
    <>
      <Button mr="auto" variant="default" leftSection={<Icon name="code" size={16} />} onClick={() => void open()}>
        API request
      </Button>
      <Modal opened={opened !== null} onClose={() => setOpened(null)} title="API request" size="xl">
        {opened && <RequestSnippet call={opened} />}
      </Modal>
    </>
  )
}

/** The requests that the current screen sent, for the header. */
export function ScreenRequests() {
  const [isOpen, open] = useDisclosure(false)
  return (
    <>
      <Tooltip label="API requests of this screen">
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="API requests of this screen" onClick={open.open}>
          <Icon name="code" />
        </ActionIcon>
      </Tooltip>
      <Modal opened={isOpen} onClose={open.close} title="API requests of this screen" size="xl">
        {isOpen && <RecordedCalls />}
      </Modal>
    </>
  )
}

function RecordedCalls() {
  const calls = useCalls()
  const [selected, select] = useState<string | null>(null)
  const call = calls.find((each) => describeCall(each) === selected) ?? calls[0]
  if (!call) return <p className="muted">This screen made no API requests.</p>
  return (
    <div className="stack">
      <p className="muted">The dashboard uses only the public API. Your applications can send the same requests.</p>
      <Select
        label="Request"
        data={[...new Set(calls.map(describeCall))]}
        value={describeCall(call)}
        onChange={select}
        allowDeselect={false}
      />
      <RequestSnippet call={call} />
    </div>
  )
}

function describeCall(call: ApiCall): string {
  const query = new URLSearchParams(Object.entries(call.query ?? {}).map(([name, value]) => [name, String(value)])).toString()
  return `${call.method} ${call.path}${query && `?${query}`}`
}
