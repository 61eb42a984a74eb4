import { Button, NumberInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { fetchData, client, type Schema } from '../../api/client'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { useAccount } from '../../access/account'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { Form } from '../../ui/Form'
import { Inherited } from '../../ui/Inherited'
import { Section } from '../../ui/Page'
import { useApiMutation, useForm } from '../../ui/useForm'
import { describeName } from './thresholdNames'

type Saved = Schema['Thresholds']
type Scope = 'domain' | 'mailbox'
type Values = Record<string, number | string | null>

const SOURCES = { global: 'from the settings', domain: 'from the domain', mailbox: 'from the mailbox' } as const

/** The limits and thresholds of a domain or a mailbox: those in force, and where they are set. */
export function Thresholds({ scope, id }: { scope: Scope; id: string }) {
  const canWriteSettings = useDenialReason('config.write') === null
  const { data, error } = useQuery({
    queryKey: ['thresholds', scope, id],
    queryFn: () => fetchData(client.GET('/abuse/thresholds', { params: { query: { scope, id } } })),
  })
  return (
    <Section
      title="Limits against abuse"
      lead={
        <>
          {scope === 'domain'
            ? 'Its mailboxes have these too, unless they have their own.'
            : 'Without its own, the mailbox has those of its domain.'}{' '}
          {canWriteSettings && (
            <Link to={PATHS.settings} search={{ section: 'abuse' }}>
              Limits of all domains
            </Link>
          )}
        </>
      }
    >
      {error ? (
        <ErrorNote error={error} />
      ) : data ? (
        <ThresholdForm key={id} scope={scope} id={id} saved={data} />
      ) : (
        <LoadingLines count={4} />
      )}
    </Section>
  )
}

/** The values that the scope itself has; null: inherited. */
function initialValues({ values }: Saved, scope: Scope): Values {
  return Object.fromEntries(Object.entries(values).map(([name, { value, source }]) => [name, source === scope ? value : null]))
}

function ThresholdForm({ scope, id, saved }: { scope: Scope; id: string; saved: Saved }) {
  const canWrite = useDenialReason('threshold.write') === null
  const isLimited = useAccount().role === 'domain_admin'
  const save = useApiMutation({
    request: (values: Values): Promise<Saved> => {
      const before = form.savedValues()
      const changed = Object.entries(values).filter(([name, value]) => value !== before[name])
      const body = { scope, id, values: Object.fromEntries(changed) as Schema['ThresholdChanges'] }
      return fetchData(client.PATCH('/abuse/thresholds', { body }))
    },
    invalidates: ['thresholds', 'abuse'],
    message: 'Saved. It applies to the next message.',
    onSuccess: (answer) => form.reset(initialValues(answer, scope)),
  })
  const form = useForm<Values>(initialValues(saved, scope), save.error)
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      isDirty={form.isDirty}
      formFields={form.names.flatMap((name) => [name, `values.${name}`])}
      actions={
        <Allowed action="threshold.write">
          <Button type="submit" loading={save.isPending}>
            Apply limits
          </Button>
        </Allowed>
      }
    >
      <ul className="settings">
        {Object.entries(saved.values).map(([name, { value, source, inherited, highest, used }]) => {
          const { label, help } = describeName(name)
          const isOverridden = form.values[name] !== null
          const isReset = !isOverridden && form.savedValues()[name] !== null
          return (
            <Inherited
              key={name}
              label={label}
              help={
                <>
                  {help}
                  {used !== null && ` Used in the last hour: ${formatNumber(used)}.`}
                  {isLimited && ` At most ${formatNumber(highest)}.`}
                </>
              }
              value={formatNumber(isReset ? inherited : value)}
              source={isOverridden ? `set for this ${scope}` : isReset ? 'inherited' : SOURCES[source]}
              isOverridden={isOverridden}
              isEdited={form.values[name] !== form.savedValues()[name]}
              {...(canWrite && { onOverride: () => form.set(name, isReset ? inherited : value) })}
              onUseDefault={() => form.set(name, null)}
            >
              {(labels) => (
                <NumberInput
                  {...labels}
                  name={name}
                  min={0}
                  clampBehavior="none"
                  value={form.values[name] ?? ''}
                  onChange={(next) => form.set(name, next)}
                  error={form.errorOf(name) ?? form.errorOf(`values.${name}`)}
                />
              )}
            </Inherited>
          )
        })}
      </ul>
    </Form>
  )
}
