import { Button, Checkbox, Fieldset, Group, NumberInput, PasswordInput, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { Addresses } from './Addresses'
import { type Unit, unitOf } from './bytes'
import { DomainSelect, useOnlyDomain } from './Domains'
import { Form } from './Form'
import { useChange, useFields } from './form'

type Mailbox = Schema['MailboxRecord']

const PROTOCOLS = { imap: 'IMAP', pop3: 'POP3', smtp: 'SMTP (sending)', sieve: 'ManageSieve' } as const

/** A mailbox to make, or to change. */
export function MailboxForm(props: { mailbox?: Mailbox; domainId?: string; onDone: (mailbox: Mailbox) => void; onCancel?: () => void }) {
  const { mailbox } = props
  const [unit] = useState(() => unitOf(mailbox?.quota_bytes))
  const save = useChange({
    change: (values: Values): Promise<Mailbox> =>
      mailbox
        ? ask(client.PATCH('/mailboxes/{id}', { params: { path: { id: mailbox.id } }, body: changesOf(values, unit) }))
        : ask(client.POST('/mailboxes', { body: newOf(values, unit) })),
    refreshes: ['mailboxes', 'domains', 'routing'],
    told: (answer) => (mailbox ? `${answer.address} is changed.` : `${answer.address} is made.`),
    then: props.onDone,
  })
  const form = useFields(initial(mailbox, props.domainId, unit), save.error)
  const only = useOnlyDomain()
  const domain_id = form.values.domain_id ?? only
  return (
    <Form
      onSubmit={() => save.mutate({ ...form.values, domain_id })}
      error={save.error}
      besides={[...form.names, 'quota_bytes', 'forward', 'forward.destinations']}
      actions={
        <>
          {props.onCancel && (
            <Button variant="default" onClick={props.onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={save.isPending}>
            {mailbox ? 'Save' : 'Make mailbox'}
          </Button>
        </>
      }
    >
      {!mailbox && (
        <div className="pair">
          <TextInput label="Name before the @" placeholder="alice" data-autofocus autoComplete="off" spellCheck={false} {...form.text('local_part')} />
          <DomainSelect label="Domain" placeholder="Choose one" {...form.value('domain_id')} value={domain_id} />
        </div>
      )}
      <TextInput label="Whose it is" placeholder="Alice Example" autoComplete="off" {...form.text('name')} />
      <PasswordInput
        label={mailbox ? 'New password' : 'Password'}
        description={mailbox ? 'Left empty, it stays as it is.' : 'At least 8 characters, and not a common one.'}
        autoComplete="new-password"
        {...form.text('password')}
      />
      <NumberInput label="Quota" description="0 is without limit; empty is what the domain says" suffix={` ${unit.name}`} min={0} decimalScale={2} {...form.value('quota')} error={form.faultOf('quota_bytes')} />
      <Addresses
        label="Forward to"
        description="Addresses that get a copy; press Enter after each"
        placeholder="alice@elsewhere.example"
        {...form.value('forward_to')}
        error={form.faultOf('forward.destinations') ?? form.faultOf('forward')}
      />
      <Checkbox label="Keep a copy here" {...form.checked('keep_copy')} disabled={form.values.forward_to.length === 0} />
      <Fieldset legend="May be used by">
        <Group>
          {(Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[]).map((name) => (
            <Checkbox key={name} label={PROTOCOLS[name]} {...form.checked(name)} />
          ))}
        </Group>
      </Fieldset>
      <Switch label="Active" description="One that is not takes no mail and lets nobody in." {...form.checked('active')} />
    </Form>
  )
}

function initial(mailbox: Mailbox | undefined, domainId: string | undefined, unit: Unit) {
  return {
    local_part: '',
    domain_id: domainId ?? null,
    name: mailbox?.name ?? '',
    password: '',
    quota: (mailbox ? mailbox.quota_bytes / unit.size : '') as number | string,
    forward_to: mailbox?.forward.destinations ?? [],
    keep_copy: mailbox?.forward.keep_copy ?? true,
    active: mailbox?.active ?? true,
    imap: mailbox?.protocols.imap ?? true,
    pop3: mailbox?.protocols.pop3 ?? true,
    smtp: mailbox?.protocols.smtp ?? true,
    sieve: mailbox?.protocols.sieve ?? true,
  }
}

type Values = Omit<ReturnType<typeof initial>, 'domain_id'> & { domain_id: string | null }

function changesOf(values: Values, unit: Unit): Schema['MailboxPatch'] {
  return {
    name: values.name,
    active: values.active,
    protocols: { imap: values.imap, pop3: values.pop3, smtp: values.smtp, sieve: values.sieve },
    forward: { destinations: values.forward_to, keep_copy: values.keep_copy },
    ...(values.password && { password: values.password }),
    ...(values.quota !== '' && { quota_bytes: Math.round(Number(values.quota) * unit.size) }),
  }
}

function newOf(values: Values, unit: Unit): Schema['MailboxCreate'] {
  return { ...changesOf(values, unit), local_part: values.local_part.trim(), domain_id: values.domain_id ?? '', name: values.name, active: values.active }
}
