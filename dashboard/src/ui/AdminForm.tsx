import { Button, Group, PasswordInput, Select, TextInput } from '@mantine/core'
import { useEffect } from 'react'
import { ask, client, type Schema } from '../api/client'
import { type Role, ROLE_NAMES, ROLES } from '../policy'
import { useAccount } from './Allowed'
import { useOnlyDomain } from './Domains'
import { DomainsSelect } from './DomainsSelect'
import { Form } from './Form'
import { useChange, useFields } from './form'
import { RequestButton } from './Request'

type Admin = Schema['AdminRecord']

/** An administrator to make, or to change. */
export function AdminForm({ admin, onDone }: { admin?: Admin; onDone: () => void }) {
  const save = useChange({
    change: (values: ReturnType<typeof initial>) =>
      admin ? ask(client.PATCH('/admins/{id}', { params: { path: { id: admin.id } }, body: changesOf(values, admin) })) : ask(client.POST('/admins', { body: bodyOf(values) })),
    refreshes: ['admins', 'me'],
    told: (answer) => (admin ? `${answer.email} is changed.` : `${answer.email} may log in.`),
    then: onDone,
  })
  const form = useFields(initial(admin), save.error)
  const account = useAccount()
  const isOwn = admin?.id === account.id
  const only = useOnlyDomain()
  useEffect(() => {
    if (only && !admin) form.set('domain_ids', [only])
  }, [only])
  const isDomainAdmin = form.values.role === 'domain_admin'
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      besides={form.names}
      actions={
        <>
          <RequestButton
            call={admin ? { method: 'PATCH', path: `/admins/${admin.id}`, body: changesOf(form.values, admin) } : { method: 'POST', path: '/admins', body: bodyOf(form.values) }}
          />
          <Group>
            <Button variant="default" onClick={onDone}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              {admin ? 'Save' : 'Make administrator'}
            </Button>
          </Group>
        </>
      }
    >
      <TextInput label="Email" type="email" description="To log in by" autoComplete="off" spellCheck={false} data-autofocus {...form.text('email')} />
      <PasswordInput
        label={admin ? 'New password' : 'Password'}
        description={admin ? 'Left empty, it stays as it is. A new one ends the other sessions of the account.' : 'At least 8 characters, none that everybody uses. It is for the first login: tell them to change it.'}
        autoComplete="new-password"
        {...form.text('password')}
      />
      {isOwn && <PasswordInput label="Current password" description="To change your own email or password" autoComplete="current-password" {...form.text('current_password')} />}
      <Select label="Role" allowDeselect={false} data={ROLES.map((role) => ({ value: role, label: ROLE_NAMES[role] }))} value={form.values.role} onChange={(role) => form.set('role', role as Role)} error={form.faultOf('role')} />
      <DomainsSelect
        label="Domains"
        description={isDomainAdmin ? 'Without one, the account can do nothing.' : 'This role has all domains.'}
        disabled={!isDomainAdmin}
        {...form.value('domain_ids')}
        {...(!isDomainAdmin && { value: [], placeholder: 'All domains' })}
      />
    </Form>
  )
}

function initial(admin: Admin | undefined) {
  return { email: admin?.email ?? '', password: '', current_password: '', role: (admin?.role ?? 'domain_admin') as Role, domain_ids: admin?.domain_ids ?? [] }
}

function bodyOf(values: ReturnType<typeof initial>): Schema['AdminCreate'] {
  const { email, password, role, domain_ids } = values
  return { email: email.trim(), password, role, ...(role === 'domain_admin' && { domain_ids }) }
}

function changesOf(values: ReturnType<typeof initial>, admin: Admin): Schema['AdminPatch'] {
  const { email, password, ...rest } = bodyOf(values)
  const { current_password } = values
  return { ...rest, ...(email !== admin.email && { email }), ...(password && { password }), ...(current_password && { current_password }) }
}
