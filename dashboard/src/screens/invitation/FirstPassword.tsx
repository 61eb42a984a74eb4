import { SegmentedControl, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { NewPassword } from '../../ui/NewPassword'
import type { FirstPasswordValues } from './firstPasswordValues'
import { INVITE_TO } from './InviteForm'

interface Props {
  form: {
    values: FirstPasswordValues
    set: (name: 'invite', value: boolean) => void
    textField: (name: 'password' | 'invite_to') => Pick<Parameters<typeof NewPassword>[0], 'value' | 'onChange'> & object
  }
  /** Below the password. */
  children?: ReactNode
}

/** How a new account gets its password: here, or by an invitation. Both take the same room, so that nothing moves. */
export function FirstPassword({ form, children }: Props) {
  const { invite } = form.values
  return (
    <fieldset className="fieldset">
      <legend>Password</legend>
      <SegmentedControl
        aria-label="Who sets the password"
        data={[
          { value: 'set', label: 'Set it now' },
          { value: 'invite', label: 'Invite the owner to set it' },
        ]}
        value={invite ? 'invite' : 'set'}
        onChange={(value) => form.set('invite', value === 'invite')}
      />
      <div className="overlap">
        <div className={invite ? 'invisible' : undefined}>
          <NewPassword label="Password" description="At least 8 characters, not a common password." {...form.textField('password')} />
          {children}
        </div>
        <div className={invite ? undefined : 'invisible'}>
          <TextInput {...INVITE_TO} type="email" autoComplete="off" spellCheck={false} {...form.textField('invite_to')} />
        </div>
      </div>
    </fieldset>
  )
}
