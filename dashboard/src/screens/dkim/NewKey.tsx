import { Modal, Select, Textarea, TextInput } from '@mantine/core'
import { client, fetchData, type Schema } from '../../api/client'
import { Form, FormButtons } from '../../ui/Form'
import { useApiMutation, useForm } from '../../ui/useForm'
import { ALGORITHMS } from './keys'

type Mode = 'generate' | 'import'
type Body = Schema['DkimKeyCreate']

interface Props {
  domain: Schema['DomainRecord']
  /** Null: closed. */
  mode: Mode | null
  onClose: () => void
}

/** Creates a key, or imports one. The imported key is kept nowhere in the browser. */
export function NewKey({ domain, mode, onClose }: Props) {
  return (
    <>
      {(['generate', 'import'] as const).map((each) => (
        <Modal
          key={each}
          opened={mode === each}
          onClose={onClose}
          title={each === 'import' ? 'Import DKIM key' : 'New DKIM key'}
          size="lg"
          closeOnClickOutside={false}
        >
          {mode === each && <KeyForm domain={domain} mode={each} onClose={onClose} />}
        </Modal>
      ))}
    </>
  )
}

function KeyForm({ domain, mode, onClose }: Props & { mode: Mode }) {
  const isImport = mode === 'import'
  const create = useApiMutation({
    request: (values: typeof initial) =>
      fetchData(client.POST('/domains/{id}/dkim-keys', { params: { path: { id: domain.id } }, body: toBody(values, isImport) })),
    invalidates: ['dkim', 'dns'],
    message: (key) => `${isImport ? 'Imported' : 'Created'} ${key.selector}. Publish its record, then activate it.`,
    onSuccess: () => {
      form.markSaved()
      onClose()
    },
  })
  const initial = { algorithm: 'rsa2048', selector: '', private_key: '' }
  const form = useForm(initial, create.error)
  return (
    <Form
      onSubmit={() => create.mutate(form.values)}
      error={create.error}
      isDirty={form.isDirty}
      formFields={isImport ? ['selector', 'private_key'] : ['selector', 'algorithm']}
      actions={<FormButtons submit={isImport ? 'Import key' : 'Create key'} isPending={create.isPending} onCancel={onClose} />}
    >
      {isImport ? (
        <div data-holds-secret>
          <Textarea
            label="Private key"
            description="In PEM, without a passphrase: RSA or Ed25519. It is stored encrypted and never shown."
            placeholder="-----BEGIN PRIVATE KEY-----"
            rows={8}
            classNames={{ input: 'mono' }}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
            {...form.textField('private_key')}
          />
        </div>
      ) : (
        <Select
          label="Algorithm"
          description="Every receiver verifies RSA. A second key, Ed25519, is small and strong, but not all verify it."
          allowDeselect={false}
          data={(['rsa2048', 'rsa4096', 'ed25519'] as const).map((value) => ({ value, label: ALGORITHMS[value] }))}
          data-autofocus
          {...form.field('algorithm')}
        />
      )}
      <TextInput
        label="Selector"
        description={`The first part of the record’s name, before ._domainkey.${domain.name}`}
        placeholder={isImport ? 'The one that the key had before; if empty, a new one' : 'Chosen by Mailkeep'}
        autoComplete="off"
        spellCheck={false}
        {...form.textField('selector')}
      />
    </Form>
  )
}

function toBody(values: { algorithm: string; selector: string; private_key: string }, isImport: boolean): Body {
  const selector = values.selector.trim()
  return {
    // Without any text the API would not know that this is an import, and ask for an algorithm.
    ...(isImport ? { private_key: values.private_key || '\n' } : { algorithm: values.algorithm as NonNullable<Body['algorithm']> }),
    ...(selector && { selector }),
  }
}
