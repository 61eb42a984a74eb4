import { Button, PasswordInput } from '@mantine/core'
import { ask, client } from '../../api/client'
import { Form } from '../../ui/Form'
import { useChange, useFields } from '../../ui/form'
import { Section } from '../../ui/Page'

export function Password() {
  const save = useChange({
    change: ({ current_password, new_password }: { current_password: string; new_password: string }) =>
      ask(client.POST('/auth/password', { body: { current_password, new_password } })),
    refreshes: ['sessions'],
    told: (answer) => (answer.sessions_ended ? `Your password is changed; ${answer.sessions_ended} other sessions were ended.` : 'Your password is changed.'),
    then: () => form.setAll({ current_password: '', new_password: '' }),
  })
  const form = useFields({ current_password: '', new_password: '' }, save.error)
  const weak = form.faultOf('new_password') ?? form.faultOf('password')
  return (
    <Section title="Password" lead="Changing it ends your other sessions.">
      <Form
        onSubmit={() => save.mutate(form.values)}
        error={save.error}
        besides={[...form.names, 'password']}
        actions={
          <Button type="submit" loading={save.isPending}>
            Change password
          </Button>
        }
      >
        <div className="pair">
          <PasswordInput label="Current password" autoComplete="current-password" {...form.text('current_password')} />
          <PasswordInput label="New password" description="8 to 256 characters, and not a common one" autoComplete="new-password" {...form.text('new_password')} error={weak} aria-invalid={Boolean(weak)} />
        </div>
      </Form>
    </Section>
  )
}
