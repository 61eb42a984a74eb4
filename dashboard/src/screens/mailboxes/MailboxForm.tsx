import { Button, Checkbox, Fieldset, Group, NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { listZones } from '../../timeZone'
import { pickUnit } from '../../units'
import { Addresses } from '../../ui/Addresses'
import { DomainSelect, useOnlyDomain } from '../domains/DomainSelect'
import { FirstPassword } from '../invitation/FirstPassword'
import { ForwardFields } from './ForwardForm'
import { createBody, initialValues, patchBody, PROTOCOLS, type Values } from './mailboxValues'
import { formatRequirement, REQUIREMENT_LABEL, RequireAppPasswords } from './RequireAppPasswords'
import { ConflictDialog, useVersion } from '../../ui/ConflictDialog'
import { formatValue } from '../../ui/conflict'
import { Form } from '../../ui/Form'
import { NewPassword } from '../../ui/NewPassword'
import { useApiMutation, useForm } from '../../ui/useForm'

type Mailbox = Schema['MailboxRecord']

const LABELS = {
  name: "Owner's name",
  quota: 'Quota',
  send_as: 'May also send as',
  time_zone: 'Time zone',
  ...PROTOCOLS,
  require_app_passwords: REQUIREMENT_LABEL,
  active: 'Active',
}

/** Creates or edits a mailbox. */
export function MailboxForm(props: {
  mailbox?: Mailbox
  domainId?: string
  onDone?: (mailbox: Mailbox, invitation: Schema['InvitationRecord'] | null) => void
  onCancel?: () => void
}) {
  const { mailbox } = props
  const version = useVersion(mailbox && `/mailboxes/${mailbox.id}`)
  const [unit] = useState(() => pickUnit(mailbox?.quota_bytes))
  const save = useApiMutation({
    request: (values: Values): Promise<Mailbox | Schema['MailboxCreated']> =>
      mailbox
        ? fetchData(
            client.PATCH('/mailboxes/{id}', {
              params: { path: { id: mailbox.id }, header: version.header },
              body: patchBody(values, unit),
            }),
          )
        : fetchData(client.POST('/mailboxes', { body: createBody(values, unit) })),
    invalidates: ['mailboxes', 'domains', 'routing'],
    message: (answer) => (mailbox ? `Saved ${answer.address}.` : `Created ${answer.address}.`),
    onSuccess: (answer) => {
      form.set('password', '')
      form.markSaved()
      version.refresh()
      props.onDone?.(answer, 'invitation' in answer ? (answer.invitation ?? null) : null)
    },
  })
  const form = useForm(initialValues(mailbox, props.domainId, unit), save.error)
  const [zones] = useState(() => listZones(form.values.time_zone))
  const onlyDomain = useOnlyDomain()
  const domain_id = form.values.domain_id ?? onlyDomain
  return (
    <Form
      onSubmit={() => save.mutate({ ...form.values, domain_id })}
      error={save.error}
      isDirty={form.isDirty}
      formFields={[...form.names, 'quota_bytes', 'forward', 'forward.destinations']}
      actions={
        <>
          {props.onCancel && (
            <Button variant="default" onClick={props.onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={save.isPending}>
            {mailbox ? 'Save' : 'Create mailbox'}
          </Button>
        </>
      }
    >
      {!mailbox && (
        <div className="pair">
          <TextInput
            label="Local part"
            description="The part before the @"
            placeholder="alice"
            data-autofocus
            autoComplete="off"
            spellCheck={false}
            {...form.textField('local_part')}
          />
          <DomainSelect label="Domain" placeholder="Select a domain" withAddresses {...form.field('domain_id')} value={domain_id} />
        </div>
      )}
      <TextInput label="Owner's name" placeholder="Alice Example" autoComplete="off" {...form.textField('name')} />
      {mailbox ? (
        <NewPassword label="New password" description="Leave blank to keep the current password." {...form.textField('password')} />
      ) : (
        <FirstPassword form={form} />
      )}
      <NumberInput
        label="Quota"
        description={`In ${unit.name}; 0 = unlimited; blank = ${mailbox ? 'unchanged' : 'domain default'}`}
        suffix={` ${unit.name}`}
        min={0}
        decimalScale={2}
        {...form.field('quota')}
        error={form.errorOf('quota_bytes')}
      />
      {!mailbox && <ForwardFields form={form} />}
      <Addresses
        label={LABELS.send_as}
        description="Further sender addresses, or domains for all their addresses. Press Enter after each."
        placeholder="sales@example.com"
        {...form.field('send_as')}
      />
      <Select
        label={LABELS.time_zone}
        description="In which times of the mailbox are shown, as of its vacation"
        searchable
        allowDeselect={false}
        data={zones}
        {...form.field('time_zone')}
      />
      <Fieldset legend="Allowed protocols">
        <Group>
          {(Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[]).map((name) => (
            <Checkbox key={name} label={PROTOCOLS[name]} {...form.checkbox(name)} />
          ))}
        </Group>
      </Fieldset>
      <RequireAppPasswords inherited={mailbox?.inherited.require_app_passwords} {...form.field('require_app_passwords')} />
      <Switch label="Active" description="An inactive mailbox rejects mail and sign-ins." {...form.checkbox('active')} />
      {mailbox && (
        <ConflictDialog
          error={save.error}
          form={form}
          version={version}
          labels={LABELS}
          show={{ quota: (value) => `${formatValue(value)} ${unit.name}`, require_app_passwords: formatRequirement }}
          load={async () =>
            initialValues(await fetchData(client.GET('/mailboxes/{id}', { params: { path: { id: mailbox.id } } })), props.domainId, unit)
          }
          onClose={save.reset}
          onSave={save.mutate}
        />
      )}
    </Form>
  )
}
