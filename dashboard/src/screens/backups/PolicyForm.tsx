import { Button, Checkbox, NumberInput, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Allowed } from '../../access/Allowed'
import { client, fetchData } from '../../api/client'
import { ErrorNote } from '../../ui/ErrorNote'
import { LoadingLines } from '../../ui/DataList'
import { Form } from '../../ui/Form'
import { RecentSignIn, useRecentSignIn } from '../../ui/RecentSignIn'
import { useApiMutation, useForm } from '../../ui/useForm'
import { KEY, type Policy, policyQuery } from './queries'

const SCHEDULES = [
  { value: 'off', label: 'Off' },
  { value: 'hourly', label: 'Every hour' },
  { value: 'daily', label: 'Every day' },
]
const VERIFICATIONS = [
  { value: 'off', label: 'Never' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every week' },
  { value: 'monthly', label: 'Every month' },
]
const PERIODS = [
  { name: 'hourly', label: 'Hours' },
  { name: 'daily', label: 'Days' },
  { name: 'weekly', label: 'Weeks' },
  { name: 'monthly', label: 'Months' },
] as const

interface Values {
  schedule: Policy['schedule']
  start_time: string
  repository: string
  verify_every: Policy['verify_every']
  append_only: boolean
  wal_archive: boolean
  hourly: number
  daily: number
  weekly: number
  monthly: number
}

/** When backups are made and verified, how long they are kept, and where. */
export function PolicyForm() {
  const { data, error } = useQuery(policyQuery())
  if (error) return <ErrorNote error={error} />
  if (!data) return <LoadingLines count={8} />
  return <Fields policy={data} />
}

function Fields({ policy }: { policy: Policy }) {
  const { schedule, start_time, repository, verify_every, append_only, wal_archive } = policy
  const save = useApiMutation({
    request: (values: Values) => {
      const { hourly, daily, weekly, monthly, ...others } = values
      return fetchData(
        client.PATCH('/backups/policy', { body: { ...others, retention: { hourly, daily, weekly, monthly }, ...signIn.body } }),
      )
    },
    invalidates: [KEY, 'config'],
    message: 'The policy was saved.',
    onSuccess: () => form.markSaved(),
  })
  const signIn = useRecentSignIn(save.error)
  const form = useForm<Values>(
    { schedule, start_time, repository, verify_every, append_only, wal_archive, ...policy.retention },
    save.error,
  )
  return (
    <Form
      onSubmit={() => signIn.isReady && save.mutate(form.values)}
      error={signIn.isNeeded ? signIn.otherError : save.error}
      formFields={form.names}
      isDirty={form.isDirty}
      actions={
        <Allowed action="backup.write">
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        </Allowed>
      }
    >
      <Select
        label="Backups"
        data={SCHEDULES}
        allowDeselect={false}
        value={form.values.schedule}
        onChange={(value) => form.set('schedule', (value ?? 'off') as Policy['schedule'])}
        error={form.errorOf('schedule')}
      />
      <TextInput
        label="Start time (UTC)"
        description="Of daily backups and of verifications, like 02:30."
        {...form.textField('start_time')}
      />
      <TextInput
        label="Repository"
        description="sftp:USER@HOST:/PATH, s3:https://HOST/BUCKET, rest:https://HOST/NAME, or a path. Empty: in the data directory. Its credentials are in Settings."
        {...form.textField('repository')}
      />
      <Select
        label="Verify the newest backup"
        data={VERIFICATIONS}
        allowDeselect={false}
        value={form.values.verify_every}
        onChange={(value) => form.set('verify_every', (value ?? 'off') as Policy['verify_every'])}
        error={form.errorOf('verify_every')}
      />
      <fieldset className="fieldset">
        <legend>Keep the newest backup of each of the last …</legend>
        {PERIODS.map(({ name, label }) => (
          <NumberInput
            key={name}
            label={label}
            min={0}
            max={10_000}
            allowDecimal={false}
            value={form.values[name]}
            onChange={(value) => form.set(name, Number(value) || 0)}
            error={form.errorOf(`retention.${name}`)}
          />
        ))}
        <p className="muted small">All 0: every backup is kept.</p>
      </fieldset>
      <Checkbox label="The repository accepts no deletions (append-only): old backups are not removed" {...form.checkbox('append_only')} />
      <Checkbox
        label="Store the database's write-ahead log each minute: mailkeep restore --at restores the database to any time"
        {...form.checkbox('wal_archive')}
      />
      {signIn.isNeeded && <RecentSignIn {...signIn.promptProps} consequence="Sign in again, then save again." />}
    </Form>
  )
}
