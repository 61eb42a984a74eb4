import { Button, Checkbox, Group, PasswordInput, Select, Switch, TextInput } from '@mantine/core'
import { useEffect } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { type Role, ROLE_NAMES, ROLES } from '../../access/policy'
import { useAccount } from '../../access/account'
import { FirstPassword } from '../invitation/FirstPassword'
import { FIRST_PASSWORD, firstPasswordBody } from '../invitation/firstPasswordValues'
import type { CreatedInvitation } from '../invitation/InvitationLink'
import { DomainName, useOnlyDomain } from '../domains/DomainSelect'
import { DomainMultiSelect } from '../domains/DomainMultiSelect'
import { ConflictDialog, useVersion } from '../../ui/ConflictDialog'
import { Form } from '../../ui/Form'
import { NewPassword } from '../../ui/NewPassword'
import { RecentSignIn, useRecentSignIn } from '../../ui/RecentSignIn'
import { useApiMutation, useForm } from '../../ui/useForm'
import { RequestButton } from '../../ui/RequestSnippet'

type Admin = Schema['AdminRecord']

const LABELS = {
  email: 'Email',
  role: 'Role',
  domain_ids: 'Domains',
  active: 'Active',
  must_change_password: 'Must change the password',
}

/** Creates or edits an administrator. `onInvited`: when the new account has an invitation. */
export function AdminForm(props: { admin?: Admin; onDone: () => void; onInvited?: (created: CreatedInvitation) => void }) {
  const { admin, onDone } = props
  const version = useVersion(admin && `/admins/${admin.id}`)
  const save = useApiMutation({
    request: (values: ReturnType<typeof initial>): Promise<Admin | Schema['AdminCreated']> =>
      admin
        ? fetchData(
            client.PATCH('/admins/{id}', {
              params: { path: { id: admin.id }, header: version.header },
              body: { ...patchBody(values, admin), ...signIn.body },
            }),
          )
        : fetchData(client.POST('/admins', { body: { ...createBody(values), ...signIn.body } })),
    invalidates: ['admins', 'me'],
    message: (answer) => (admin ? `Saved ${answer.email}.` : `Created ${answer.email}.`),
    onSuccess: (answer) => {
      form.markSaved()
      onDone()
      if ('invitation' in answer && answer.invitation) props.onInvited?.({ address: answer.email, invitation: answer.invitation })
    },
  })
  const signIn = useRecentSignIn(save.error)
  const form = useForm(initial(admin), save.error)
  const account = useAccount()
  const isOwn = admin?.id === account.id
  const onlyDomain = useOnlyDomain()
  useEffect(() => {
    if (!onlyDomain || admin) return
    form.set('domain_ids', [onlyDomain])
    form.markSaved()
  }, [onlyDomain])
  const isDomainAdmin = form.values.role === 'domain_admin'
  const onSubmit = () => signIn.isReady && save.mutate(form.values)
  const error = signIn.isNeeded ? signIn.otherError : save.error
  if (signIn.isAsking)
    return (
      <Form
        onSubmit={onSubmit}
        error={error}
        isDirty={form.isDirty}
        actions={
          <>
            <Button variant="default" onClick={onDone}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!signIn.isReady}>
              {admin ? 'Save' : 'Create administrator'}
            </Button>
          </>
        }
      >
        <RecentSignIn {...signIn.promptProps} consequence="Sign in again, then enter the changes again." />
      </Form>
    )
  return (
    <Form
      onSubmit={onSubmit}
      error={error}
      isDirty={form.isDirty}
      formFields={form.names}
      actions={
        <>
          <RequestButton
            call={
              admin
                ? { method: 'PATCH', path: `/admins/${admin.id}`, body: patchBody(form.values, admin) }
                : { method: 'POST', path: '/admins', body: createBody(form.values) }
            }
          />
          <Group>
            <Button variant="default" onClick={onDone}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              {admin ? 'Save' : 'Create administrator'}
            </Button>
          </Group>
        </>
      }
    >
      <TextInput
        label="Email"
        type="email"
        description="Used to sign in"
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        {...form.textField('email')}
      />
      {admin ? (
        <NewPassword
          label="New password"
          description="Leave blank to keep the current password. A new password ends the other sessions of the account."
          {...form.textField('password')}
        />
      ) : (
        <FirstPassword form={form}>
          <MustChangePassword form={form} />
        </FirstPassword>
      )}
      {admin && !isOwn && <MustChangePassword form={form} />}
      {isOwn && (
        <PasswordInput
          label="Current password"
          description="Required to change your own email or password"
          autoComplete="current-password"
          {...form.textField('current_password')}
        />
      )}
      <Select
        label="Role"
        allowDeselect={false}
        data={ROLES.map((role) => ({ value: role, label: ROLE_NAMES[role] }))}
        value={form.values.role}
        onChange={(role) => form.set('role', role as Role)}
        error={form.errorOf('role')}
      />
      <DomainMultiSelect
        label="Domains"
        description={isDomainAdmin ? 'Without a domain, the account has no access.' : 'This role has access to all domains.'}
        disabled={!isDomainAdmin}
        {...form.field('domain_ids')}
        {...(!isDomainAdmin && { value: [], placeholder: 'All domains' })}
      />
      {admin && (
        <Switch
          label="Active"
          description="An inactive administrator can't sign in, and the API keys of the account are rejected."
          {...form.checkbox('active')}
        />
      )}
      {admin && (
        <ConflictDialog
          error={save.error}
          form={form}
          version={version}
          labels={LABELS}
          show={{ role: (role) => ROLE_NAMES[role as Role], domain_ids: (ids) => <DomainNames ids={ids as string[]} /> }}
          load={async () => initial(await fetchData(client.GET('/admins/{id}', { params: { path: { id: admin.id } } })))}
          onClose={save.reset}
          onSave={save.mutate}
        />
      )}
    </Form>
  )
}

function DomainNames({ ids }: { ids: readonly string[] }) {
  if (!ids.length) return <>None</>
  return (
    <>
      {ids.map((id) => (
        <div key={id}>
          <DomainName id={id} />
        </div>
      ))}
    </>
  )
}

function MustChangePassword({ form }: { form: { checkbox: (name: 'must_change_password') => object } }) {
  return (
    <Checkbox
      label={LABELS.must_change_password}
      description="The account can do nothing else before, and its API keys are rejected."
      {...form.checkbox('must_change_password')}
    />
  )
}

function initial(admin: Admin | undefined) {
  return {
    email: admin?.email ?? '',
    ...FIRST_PASSWORD,
    current_password: '',
    role: (admin?.role ?? 'domain_admin') as Role,
    domain_ids: admin?.domain_ids ?? [],
    active: admin?.active ?? true,
    must_change_password: admin?.must_change_password ?? true,
  }
}

function createBody(values: ReturnType<typeof initial>): Schema['AdminCreate'] {
  const { email, role, domain_ids, invite, must_change_password } = values
  return {
    email: email.trim(),
    ...firstPasswordBody(values),
    role,
    ...(role === 'domain_admin' && { domain_ids }),
    ...(!invite && { must_change_password }),
  }
}

function patchBody(values: ReturnType<typeof initial>, admin: Admin): Schema['AdminPatch'] {
  const { password, current_password, role, domain_ids, active, must_change_password } = values
  const email = values.email.trim()
  return {
    role,
    ...(role === 'domain_admin' && { domain_ids }),
    ...(email !== admin.email && { email }),
    ...(password && { password }),
    ...(current_password && { current_password }),
    ...(active !== admin.active && { active }),
    ...(must_change_password !== admin.must_change_password && { must_change_password }),
  }
}
