import { Button, PasswordInput } from '@mantine/core'
import { useCredentials } from '../../api/credentials'
import { Form } from '../../ui/Form'
import { NewPassword } from '../../ui/NewPassword'
import { useApiMutation, useForm } from '../../ui/useForm'
import { pluralize } from '../../units'
import { Section } from '../../ui/Page'

export function Password() {
  const credentials = useCredentials()
  const save = useApiMutation({
    request: credentials.changePassword,
    invalidates: ['sessions'],
    message: (answer) =>
      answer.sessions_ended ? `Password changed. ${pluralize(answer.sessions_ended, 'other session')} ended.` : 'Password changed.',
    onSuccess: () => form.reset({ current_password: '', new_password: '' }),
  })
  const form = useForm({ current_password: '', new_password: '' }, save.error)
  const weak = form.errorOf('new_password') ?? form.errorOf('password')
  return (
    <Section title="Password" lead="Changing the password ends your other sessions.">
      <Form
        onSubmit={() => save.mutate(form.values)}
        error={save.error}
        isDirty={form.isDirty}
        formFields={[...form.names, 'password']}
        actions={
          <Button type="submit" loading={save.isPending}>
            Change password
          </Button>
        }
      >
        <div className="pair">
          <PasswordInput label="Current password" autoComplete="current-password" {...form.textField('current_password')} />
          <NewPassword
            label="New password"
            description="8 to 256 characters, not a common password"
            {...form.textField('new_password')}
            error={weak}
            aria-invalid={Boolean(weak)}
          />
        </div>
      </Form>
    </Section>
  )
}
