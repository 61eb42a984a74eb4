import { Button, Checkbox, NumberInput, Select, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Allowed, useDenialReason } from '../../access/Allowed'
import type { Action } from '../../access/policy'
import type { FilteringRequests, FilterSettings } from '../../api/filteringRequests'
import { versionQuery } from '../../api/queries'
import { ConflictDialog, useVersion } from '../../ui/ConflictDialog'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { Form } from '../../ui/Form'
import { Icon } from '../../ui/Icon'
import { Inherited } from '../../ui/Inherited'
import { Section } from '../../ui/Page'
import { useApiMutation, useForm } from '../../ui/useForm'
import { Outcomes } from './Outcomes'
import { Training } from './Training'
import { initialValues, patchBody, type Values } from './values'
import { describeSource, describeThreshold, DIGESTS } from './words'

const LABELS = { junk_score: 'Junk', reject_score: 'Refuse', digest: 'Digest', learn: 'Learning' } as const
type Name = keyof typeof LABELS

const HELP: Readonly<Record<Name, string>> = {
  junk_score: 'Mail with this score or more is filed in the folder Junk.',
  reject_score:
    'Mail with this score or more is refused while it is received, if all its recipients refuse it. Otherwise it is filed in Junk.',
  digest: 'A message that lists what was filed in Junk or refused, with a link to release it.',
  learn: 'When mail is moved to Junk, or from it to another folder, the filter learns from it.',
}
/** What "Override" begins with, where the inherited threshold is off. */
const USUAL = { junk_score: 6, reject_score: 15 } as const

interface Props {
  requests: FilteringRequests
  action: Action
}

/** Thresholds, digest and learning of the server, a domain or a mailbox. */
export function FilteringSettings({ requests, action }: Props) {
  const { data, error } = useQuery({ queryKey: ['filtering', requests.id], queryFn: requests.load })
  const { data: version } = useQuery(versionQuery())
  if (error) return <ErrorNote error={error} />
  if (!data || !version) return <LoadingLines count={8} />
  return (
    <>
      <Section
        title="What happens to spam"
        lead="The spam filter gives each incoming message a score: the higher, the more likely it is spam. Usual values are 6 for Junk and 15 for refusing."
      >
        {version.profile !== 'full' && (
          <div className="note">
            <Icon name="info" />
            <div>
              <p>
                The embedded profile has no spam filter: only mail with the test string GTUBE has a score, and training is not available.
                Allow entries apply by network only.
              </p>
            </div>
          </div>
        )}
        <SettingsForm requests={requests} action={action} saved={data} />
      </Section>
      {version.profile === 'full' && <Training training={data.training} />}
    </>
  )
}

function SettingsForm({ requests, action, saved }: Props & { saved: FilterSettings }) {
  const version = useVersion(requests.path)
  const canWrite = useDenialReason(action) === null
  const save = useApiMutation({
    request: (values: Values): Promise<FilterSettings> => requests.save(patchBody(values, form.savedValues()), version.header),
    invalidates: ['filtering', 'config'],
    message: 'Saved. It applies to the next message.',
    onSuccess: (answer) => {
      form.reset(initialValues(answer))
      version.refresh()
    },
  })
  const form = useForm(initialValues(saved), save.error)
  const { values } = form
  const before = form.savedValues()
  function row(name: Name, value: string) {
    const { scope } = saved.effective[name]
    const isReset = values[name] === null && before[name] !== null
    return {
      label: LABELS[name],
      help: HELP[name],
      value: isReset ? 'The default' : value,
      source:
        values[name] === null
          ? isReset
            ? 'inherited'
            : describeSource(scope, requests.scope)
          : describeSource(requests.scope, requests.scope),
      isOverridden: values[name] !== null,
      isEdited: values[name] !== before[name],
      onUseDefault: () => form.set(name, null),
    }
  }
  function threshold(name: 'junk_score' | 'reject_score') {
    const { value } = saved.effective[name]
    const last = typeof values[name] === 'number' ? values[name] : value === 'off' ? USUAL[name] : value
    return (
      <Inherited
        {...row(name, describeThreshold(value))}
        {...(canWrite && { onOverride: () => form.set(name, value === 'off' ? USUAL[name] : value) })}
      >
        {(labels) => (
          <div className="score-row">
            <NumberInput
              {...labels}
              name={name}
              min={0}
              max={1000}
              clampBehavior="none"
              decimalScale={2}
              disabled={values[name] === 'off'}
              value={values[name] === 'off' ? '' : (values[name] ?? '')}
              onChange={(next) => form.set(name, next)}
              error={form.errorOf(name)}
            />
            <Checkbox
              label="Off"
              aria-label={`${LABELS[name]}: off`}
              checked={values[name] === 'off'}
              onChange={(event) => form.set(name, event.currentTarget.checked ? 'off' : last)}
            />
          </div>
        )}
      </Inherited>
    )
  }
  return (
    <>
      <Form
        onSubmit={() => save.mutate(values)}
        error={save.error}
        isDirty={form.isDirty}
        formFields={form.names}
        actions={
          <Allowed action={action}>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Allowed>
        }
      >
        <ul className="settings">
          {threshold('junk_score')}
          {threshold('reject_score')}
          <Inherited
            {...row('digest', DIGESTS[saved.effective.digest.value])}
            {...(canWrite && { onOverride: () => form.set('digest', saved.effective.digest.value) })}
          >
            {(labels) => (
              <Select
                {...labels}
                name="digest"
                allowDeselect={false}
                data={Object.entries(DIGESTS).map(([value, label]) => ({ value, label }))}
                value={values.digest}
                onChange={(value) => form.set('digest', value as Values['digest'])}
                error={form.errorOf('digest')}
              />
            )}
          </Inherited>
          <Inherited
            {...row('learn', saved.effective.learn.value ? 'On' : 'Off')}
            {...(canWrite && { onOverride: () => form.set('learn', saved.effective.learn.value) })}
          >
            {(labels) => <Switch {...labels} name="learn" label={values.learn ? 'On' : 'Off'} {...form.checkbox('learn')} />}
          </Inherited>
        </ul>
        <ConflictDialog
          error={save.error}
          form={form}
          version={version}
          labels={LABELS}
          load={async () => initialValues(await requests.load())}
          onClose={save.reset}
          onSave={save.mutate}
        />
      </Form>
      <Outcomes values={values} saved={saved} />
    </>
  )
}
