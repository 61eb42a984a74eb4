import { ActionIcon, PasswordInput, type PasswordInputProps, Tooltip } from '@mantine/core'
import { useState } from 'react'
import { CopyButton } from './Copy'
import { generatePassword } from './generatePassword'
import { Icon } from './Icon'

type Props = Omit<PasswordInputProps, 'value' | 'onChange'> & {
  value: string
  onChange: (event: { currentTarget: { value: string } }) => void
}

/** The field of a new password, with buttons that generate one, which is then shown, and copy it. */
export function NewPassword({ value, onChange, ...props }: Props) {
  const [isVisible, setVisible] = useState(false)
  function generate() {
    onChange({ currentTarget: { value: generatePassword() } })
    setVisible(true)
  }
  return (
    <PasswordInput
      autoComplete="new-password"
      spellCheck={false}
      {...props}
      value={value}
      onChange={onChange}
      visible={isVisible}
      onVisibilityChange={setVisible}
      inputContainer={(input) => (
        <div className="new-password">
          {input}
          <Tooltip label="Generate password">
            <ActionIcon variant="default" size="input-sm" aria-label="Generate password" onClick={generate}>
              <Icon name="refresh" size={16} />
            </ActionIcon>
          </Tooltip>
          <CopyButton text={value} what="password" size="md" isDisabled={!value} />
        </div>
      )}
    />
  )
}
