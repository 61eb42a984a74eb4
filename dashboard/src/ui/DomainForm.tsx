import { Button, NumberInput, PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { type Unit, unitOf } from './bytes'
import { Form } from './Form'
import { useChange, useFields } from './form'

type Domain = Schema['DomainRecord']

/** A domain to make, or to change. */
export function DomainForm({ domain, onDone, onCancel }: { domain?: Domain; onDone: (domain: Domain) => void; onCancel?: () => void }) {
  const [unit] = useState(() => unitOf(domain?.default_quota_bytes))
  const save = useChange({
    change: (values: ReturnType<typeof initial>): Promise<Domain> =>
      domain
        ? ask(client.PATCH('/domains/{id}', { params: { path: { id: domain.id } }, body: bodyOf(values, unit) }))
        : ask(client.POST('/domains', { body: { name: values.name.trim(), ...bodyOf(values, unit) } })),
    refreshes: ['domains'],
    told: (answer) => (domain ? `${answer.unicode_name} is changed.` : `${answer.unicode_name} is made.`),
    then: onDone,
  })
  const form = useFields(initial(domain, unit), save.error)
  const hasRelay = form.values.relay_host.trim() !== ''
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      besides={[...form.names, 'default_quota_bytes', 'plus_delimiter', 'relay.host', 'relay.port', 'relay.tls', 'relay.username', 'relay.password']}
      actions={
        <>
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={save.isPending}>
            {domain ? 'Save' : 'Make domain'}
          </Button>
        </>
      }
    >
      {!domain && (
        <TextInput label="Domain name" placeholder="example.com" description="As it stands after the @ of its addresses. It can't be changed later." data-autofocus autoComplete="off" spellCheck={false} {...form.text('name')} />
      )}
      <Textarea label="Description" rows={2} resize="vertical" {...form.text('description')} />
      <div className="pair">
        <NumberInput label="Quota of a new mailbox" suffix={` ${unit.name}`} min={0} decimalScale={2} description="0 is without limit" {...form.value('quota')} error={form.faultOf('default_quota_bytes')} />
        <Select
          label="Tags in addresses"
          description="Mail for name+tag goes to name"
          data={[
            { value: '+', label: 'name+tag' },
            { value: '-', label: 'name-tag' },
            { value: '', label: 'no tags' },
          ]}
          allowDeselect={false}
          {...form.value('plus')}
          error={form.faultOf('plus_delimiter')}
        />
      </div>
      <div className="pair">
        <NumberInput label="At most so many mailboxes" placeholder="no limit" min={0} allowDecimal={false} {...form.value('max_mailboxes')} />
        <NumberInput label="At most so many aliases" placeholder="no limit" min={0} allowDecimal={false} {...form.value('max_aliases')} />
      </div>
      <fieldset className="fieldset">
        <legend>Relay</legend>
        <TextInput label="Host" placeholder="smtp.example.net" description="Takes the domain's outbound mail. Empty: the server's relay, or delivery by MX records." autoComplete="off" spellCheck={false} {...form.text('relay_host')} error={form.faultOf('relay.host')} />
        <div className="pair">
          <Select
            label="Encryption"
            disabled={!hasRelay}
            data={[
              { value: 'starttls', label: 'STARTTLS' },
              { value: 'tls', label: 'TLS' },
              { value: 'none', label: 'None (no user name)' },
            ]}
            allowDeselect={false}
            {...form.value('relay_tls')}
            error={form.faultOf('relay.tls')}
          />
          <NumberInput label="Port" disabled={!hasRelay} min={1} max={65535} allowDecimal={false} {...form.value('relay_port')} error={form.faultOf('relay.port')} />
        </div>
        <div className="pair">
          <TextInput label="User name" disabled={!hasRelay} autoComplete="off" spellCheck={false} {...form.text('relay_username')} error={form.faultOf('relay.username')} />
          <PasswordInput label="Password" disabled={!hasRelay} autoComplete="new-password" description={domain?.relay?.has_password ? 'Stored. Enter it again if you change host, port, encryption or user name.' : undefined} {...form.text('relay_password')} error={form.faultOf('relay.password')} />
        </div>
      </fieldset>
      <Switch label="Active" description="Mail for a domain that is not is put off, and none is sent from it." {...form.checked('active')} />
      <Switch label="Sends mail" {...form.checked('sending_enabled')} />
      <Switch label="Receives mail" {...form.checked('receiving_enabled')} />
    </Form>
  )
}

function initial(domain: Domain | undefined, unit: Unit) {
  return {
    name: domain?.name ?? '',
    description: domain?.description ?? '',
    active: domain?.active ?? true,
    sending_enabled: domain?.sending_enabled ?? true,
    receiving_enabled: domain?.receiving_enabled ?? true,
    max_mailboxes: (domain?.max_mailboxes ?? '') as number | string,
    max_aliases: (domain?.max_aliases ?? '') as number | string,
    quota: (domain ? domain.default_quota_bytes / unit.size : 1) as number | string,
    plus: domain ? (domain.plus_delimiter ?? '') : '+',
    relay_host: domain?.relay?.host ?? '',
    relay_port: (domain?.relay?.port ?? 587) as number | string,
    relay_tls: domain?.relay?.tls ?? 'starttls',
    relay_username: domain?.relay?.username ?? '',
    relay_password: '',
  }
}

function bodyOf(values: ReturnType<typeof initial>, unit: Unit) {
  const limit = (given: number | string) => (given === '' ? null : Number(given))
  return {
    description: values.description,
    active: values.active,
    sending_enabled: values.sending_enabled,
    receiving_enabled: values.receiving_enabled,
    max_mailboxes: limit(values.max_mailboxes),
    max_aliases: limit(values.max_aliases),
    default_quota_bytes: Math.round(Number(values.quota || 0) * unit.size),
    plus_delimiter: values.plus || null,
    relay: relayOf(values),
  }
}

/** Without a password the API keeps the one that it has, as long as nothing else of the relay changes. */
function relayOf(values: ReturnType<typeof initial>) {
  if (!values.relay_host.trim()) return null
  return {
    host: values.relay_host.trim(),
    port: Number(values.relay_port || 587),
    tls: values.relay_tls as 'none' | 'starttls' | 'tls',
    username: values.relay_username.trim(),
    ...(values.relay_password ? { password: values.relay_password } : {}),
  }
}
