import { Button, Checkbox, Modal, Select, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Form } from '../../../ui/Form'
import { missingFields, type TemplateKind, type TemplateValues } from './templates'

const KINDS: { value: TemplateKind; label: string }[] = [
  { value: 'sender', label: 'File mail from a sender' },
  { value: 'list', label: 'File mail of a mailing list' },
  { value: 'subject', label: 'File mail with words in its subject' },
  { value: 'forward', label: 'Forward all mail' },
  { value: 'reject', label: 'Reject mail from a sender' },
]

const MATCH: Partial<Record<TemplateKind, { label: string; placeholder: string }>> = {
  sender: { label: 'Sender', placeholder: 'news@shop.example or @shop.example' },
  list: { label: 'List ID contains', placeholder: 'users.lists.example' },
  subject: { label: 'Subject contains', placeholder: 'Invoice' },
  reject: { label: 'Sender', placeholder: 'someone@elsewhere.example or @elsewhere.example' },
}

const EMPTY: TemplateValues = { match: '', folder: '', address: '', keepCopy: true, reason: '' }

interface Props {
  opened: boolean
  onClose: () => void
  onInsert: (kind: TemplateKind, values: TemplateValues) => void
}

/** Asks for what a template needs, and adds its rule to the script. */
export function TemplateDialog(props: Props) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title="Add a filter" size="lg">
      {props.opened && <TemplateForm {...props} />}
    </Modal>
  )
}

function TemplateForm({ onClose, onInsert }: Props) {
  const [kind, setKind] = useState<TemplateKind>('sender')
  const [values, setValues] = useState(EMPTY)
  const [isTried, setTried] = useState(false)
  const missing = missingFields(kind, values)
  const text = (name: 'match' | 'folder' | 'address' | 'reason') => ({
    value: values[name],
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget
      setValues((before) => ({ ...before, [name]: value }))
    },
    error: isTried && missing.includes(name) ? 'Required.' : undefined,
    autoComplete: 'off',
  })
  function submit() {
    setTried(true)
    if (missing.length === 0) onInsert(kind, values)
  }
  const match = MATCH[kind]
  return (
    <Form
      onSubmit={submit}
      actions={
        <>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit">Add to script</Button>
        </>
      }
    >
      <Select
        label="Filter"
        data={KINDS}
        value={kind}
        allowDeselect={false}
        onChange={(value) => setKind((value as TemplateKind | null) ?? 'sender')}
      />
      {match && <TextInput label={match.label} placeholder={match.placeholder} spellCheck={false} {...text('match')} />}
      {(kind === 'sender' || kind === 'list' || kind === 'subject') && (
        <TextInput label="Folder" description="Created if it does not exist" placeholder="Newsletters" {...text('folder')} />
      )}
      {kind === 'forward' && (
        <>
          <TextInput label="Forward to" placeholder="alice@elsewhere.example" spellCheck={false} {...text('address')} />
          <Checkbox
            label="Keep a copy in this mailbox"
            checked={values.keepCopy}
            onChange={(event) => {
              const keepCopy = event.currentTarget.checked
              setValues((before) => ({ ...before, keepCopy }))
            }}
          />
        </>
      )}
      {kind === 'reject' && <Textarea label="Reason" description="The sender reads it" rows={3} {...text('reason')} />}
    </Form>
  )
}
