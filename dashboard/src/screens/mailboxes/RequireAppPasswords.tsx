import { Select } from '@mantine/core'

export type Requirement = 'inherit' | 'yes' | 'no'

interface Inherited {
  value: boolean
  source: 'domain' | 'server'
}

const LABELS = { inherit: 'Inherit', yes: 'Only app passwords', no: 'Own password or app passwords' } as const

export const REQUIREMENT_LABEL = 'Mail client sign-in'

export function toRequirement(value: boolean | null | undefined): Requirement {
  return value === null || value === undefined ? 'inherit' : value ? 'yes' : 'no'
}

export function fromRequirement(value: Requirement): boolean | null {
  return value === 'inherit' ? null : value === 'yes'
}

export function formatRequirement(value: unknown): string {
  return LABELS[value as Requirement]
}

/** The value of the level above and where it comes from. */
export function formatInherited({ value, source }: Inherited): string {
  const from = source === 'domain' ? 'the domain' : "the server's settings"
  return `${LABELS[value ? 'yes' : 'no'].toLowerCase()}, from ${from}`
}

/** Selects whether mail clients must sign in with app passwords. `inherited`: of an object that exists. */
export function RequireAppPasswords(props: {
  inherited: Inherited | undefined
  value: Requirement
  onChange: (value: Requirement | null) => void
  error: string | undefined
}) {
  const { inherited, onChange, ...field } = props
  return (
    <Select
      label={REQUIREMENT_LABEL}
      description="What IMAP, POP3, SMTP and ManageSieve accept"
      allowDeselect={false}
      data={(['inherit', 'yes', 'no'] as const).map((value) => ({
        value,
        label: value === 'inherit' && inherited ? `Inherit (${formatInherited(inherited)})` : LABELS[value],
      }))}
      onChange={(value) => onChange(value as Requirement | null)}
      {...field}
    />
  )
}
