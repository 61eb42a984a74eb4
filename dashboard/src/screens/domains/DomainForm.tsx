import { Button, NumberInput, PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { useDenialReason } from '../../access/Allowed'
import { pickUnit } from '../../units'
import { DomainName, DomainSelect } from './DomainSelect'
import { domainBody, initialValues } from './domainValues'
import { ConflictDialog, useVersion } from '../../ui/ConflictDialog'
import { formatValue } from '../../ui/conflict'
import { Form } from '../../ui/Form'
import { useApiMutation, useForm } from '../../ui/useForm'
import { formatRequirement, REQUIREMENT_LABEL, RequireAppPasswords } from '../mailboxes/RequireAppPasswords'

type Domain = Schema['DomainRecord']

const LABELS = {
  description: 'Description',
  alias_of: 'Alias of',
  quota: 'Default mailbox quota',
  plus: 'Subaddressing',
  max_mailboxes: 'Mailbox limit',
  max_aliases: 'Alias limit',
  relay_host: 'Relay host',
  relay_tls: 'Relay encryption',
  relay_port: 'Relay port',
  relay_username: 'Relay user name',
  require_app_passwords: REQUIREMENT_LABEL,
  active: 'Active',
  sending_enabled: 'Sending enabled',
  receiving_enabled: 'Receiving enabled',
  self_service: 'Self-service',
  dkim_delegated: 'Delegated DKIM records',
  dns_managed: 'Managed DNS records',
  mta_sts_mode: 'MTA-STS policy',
}

/** Creates or edits a domain. */
export function DomainForm({ domain, onDone, onCancel }: { domain?: Domain; onDone?: (domain: Domain) => void; onCancel?: () => void }) {
  const version = useVersion(domain && `/domains/${domain.id}`)
  const canManageDns = useDenialReason('config.write') === null
  const [unit] = useState(() => pickUnit(domain?.default_quota_bytes))
  const save = useApiMutation({
    request: (values: ReturnType<typeof initialValues>): Promise<Domain> =>
      domain
        ? fetchData(
            client.PATCH('/domains/{id}', { params: { path: { id: domain.id }, header: version.header }, body: domainBody(values, unit) }),
          )
        : fetchData(client.POST('/domains', { body: { name: values.name.trim(), ...domainBody(values, unit) } })),
    invalidates: ['domains'],
    message: (answer) => (domain ? `Saved ${answer.unicode_name}.` : `Created ${answer.unicode_name}.`),
    onSuccess: (answer) => {
      form.set('relay_password', '')
      form.markSaved()
      version.refresh()
      onDone?.(answer)
    },
  })
  const form = useForm(initialValues(domain, unit), save.error)
  const hasRelay = form.values.relay_host.trim() !== ''
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      isDirty={form.isDirty}
      formFields={[
        ...form.names,
        'default_quota_bytes',
        'plus_delimiter',
        'relay.host',
        'relay.port',
        'relay.tls',
        'relay.username',
        'relay.password',
      ]}
      actions={
        <>
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={save.isPending}>
            {domain ? 'Save' : 'Create domain'}
          </Button>
        </>
      }
    >
      {!domain && (
        <TextInput
          label="Domain name"
          placeholder="example.com"
          description="The part after the @ of its addresses. It can't be changed later."
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          {...form.textField('name')}
        />
      )}
      <Textarea label="Description" rows={2} resize="vertical" {...form.textField('description')} />
      <DomainSelect
        label={LABELS.alias_of}
        placeholder="No alias domain"
        description={
          hasAddresses(domain)
            ? 'Only a domain without mailboxes, aliases and alias domains can be an alias domain.'
            : 'Its addresses are routed as the same addresses of that domain.'
        }
        disabled={hasAddresses(domain)}
        clearable
        withAddresses
        except={domain?.id}
        {...form.field('alias_of')}
      />
      <div className="pair">
        <NumberInput
          label="Default mailbox quota"
          suffix={` ${unit.name}`}
          min={0}
          decimalScale={2}
          description="0 = unlimited"
          {...form.field('quota')}
          error={form.errorOf('default_quota_bytes')}
        />
        <Select
          label="Subaddressing"
          description="Mail for name+tag is delivered to name"
          data={[
            { value: '+', label: 'name+tag' },
            { value: '-', label: 'name-tag' },
            { value: '', label: 'Off' },
          ]}
          allowDeselect={false}
          {...form.field('plus')}
          error={form.errorOf('plus_delimiter')}
        />
      </div>
      <div className="pair">
        <NumberInput label="Mailbox limit" placeholder="Unlimited" min={0} allowDecimal={false} {...form.field('max_mailboxes')} />
        <NumberInput label="Alias limit" placeholder="Unlimited" min={0} allowDecimal={false} {...form.field('max_aliases')} />
      </div>
      <fieldset className="fieldset">
        <legend>Relay</legend>
        <TextInput
          label="Host"
          placeholder="smtp.example.net"
          description="Delivers the domain's outbound mail. If blank, the server's relay is used, or mail is delivered directly."
          autoComplete="off"
          spellCheck={false}
          {...form.textField('relay_host')}
          error={form.errorOf('relay.host')}
        />
        <div className="pair">
          <Select
            label="Encryption"
            disabled={!hasRelay}
            data={[
              { value: 'starttls', label: 'STARTTLS' },
              { value: 'tls', label: 'TLS' },
              { value: 'none', label: 'None (user name and password not allowed)' },
            ]}
            allowDeselect={false}
            {...form.field('relay_tls')}
            error={form.errorOf('relay.tls')}
          />
          <NumberInput
            label="Port"
            disabled={!hasRelay}
            min={1}
            max={65535}
            allowDecimal={false}
            {...form.field('relay_port')}
            error={form.errorOf('relay.port')}
          />
        </div>
        <div className="pair">
          <TextInput
            label="User name"
            disabled={!hasRelay}
            autoComplete="off"
            spellCheck={false}
            {...form.textField('relay_username')}
            error={form.errorOf('relay.username')}
          />
          <PasswordInput
            label="Password"
            disabled={!hasRelay}
            autoComplete="new-password"
            description={
              domain?.relay?.has_password
                ? 'A password is stored. Enter it again if you change the host, port, encryption or user name.'
                : undefined
            }
            {...form.textField('relay_password')}
            error={form.errorOf('relay.password')}
          />
        </div>
      </fieldset>
      <Select
        label={LABELS.mta_sts_mode}
        description={
          domain
            ? `Served at https://mta-sts.${domain.name}. Enforcing it is possible after a check of the DNS records has found it there.`
            : 'Other servers deliver mail for the domain only to this server, with verified TLS.'
        }
        data={[
          { value: 'none', label: 'Off' },
          { value: 'testing', label: 'Testing (others report failures)' },
          { value: 'enforce', label: 'Enforce', disabled: !domain },
        ]}
        allowDeselect={false}
        {...form.field('mta_sts_mode')}
      />
      <RequireAppPasswords inherited={domain?.inherited.require_app_passwords} {...form.field('require_app_passwords')} />
      <Switch label="Active" description="While inactive, inbound mail is deferred and nothing is sent." {...form.checkbox('active')} />
      <Switch label="Sending enabled" description="Addresses of the domain can send." {...form.checkbox('sending_enabled')} />
      <Switch
        label="Receiving enabled"
        description="Without it, mail for the domain is rejected."
        {...form.checkbox('receiving_enabled')}
      />
      <Switch
        label={LABELS.self_service}
        description="Owners of mailboxes sign in at /me to change their password, vacation, forward and filters."
        {...form.checkbox('self_service')}
      />
      <Switch
        label={LABELS.dkim_delegated}
        description="Names of later DKIM keys are CNAMEs to this server (tab DKIM). Needs server.hostname."
        {...form.checkbox('dkim_delegated')}
      />
      {canManageDns && (
        <Switch
          label={LABELS.dns_managed}
          description="Mailkeep writes the domain's records itself (settings dns.provider and dns.update_server)."
          {...form.checkbox('dns_managed')}
        />
      )}
      {domain && (
        <ConflictDialog
          error={save.error}
          form={form}
          version={version}
          labels={LABELS}
          show={{
            quota: (value) => `${formatValue(value)} ${unit.name}`,
            require_app_passwords: formatRequirement,
            alias_of: (value) => (value ? <DomainName id={value as string} /> : formatValue(value)),
          }}
          load={async () => initialValues(await fetchData(client.GET('/domains/{id}', { params: { path: { id: domain.id } } })), unit)}
          onClose={save.reset}
          onSave={save.mutate}
        />
      )}
    </Form>
  )
}

function hasAddresses(domain: Domain | undefined): boolean {
  return Boolean(domain && domain.usage.mailboxes + domain.usage.aliases + domain.usage.alias_domains > 0)
}
