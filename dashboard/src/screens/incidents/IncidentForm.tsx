import { Checkbox, Input, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ApiError } from '../../api/errors'
import { fetchData, client } from '../../api/client'
import { versionQuery } from '../../api/queries'
import { useAccount } from '../../access/account'
import { PATHS } from '../../paths'
import { Form, FormButtons } from '../../ui/Form'
import { useApiMutation, useForm } from '../../ui/useForm'
import { ACTION_NAMES, ACTIONS, type IncidentAction, SUBJECT_TYPES, type SubjectType, USUAL } from './actions'

interface Values {
  type: SubjectType
  id: string | null
  address: string
  actions: readonly IncidentAction[]
  note: string
}

/** What an incident changes on other screens. */
export const INVALIDATES = ['incidents', 'mailboxes', 'suspensions', 'admins', 'api-keys', 'queue', 'abuse', 'alerts']

/** `id` or, for a mailbox, `address`: the subject if it is known already. */
export function IncidentForm(props: { type: SubjectType; id?: string | undefined; address?: string | undefined; onCancel: () => void }) {
  const navigate = useNavigate()
  const { role } = useAccount()
  const isFull = useQuery(versionQuery()).data?.profile === 'full'
  const save = useApiMutation({
    request: async ({ type, id, address, actions, note }: Values) =>
      fetchData(
        client.POST('/abuse/incidents', {
          body: {
            subject: { type, id: (type === 'mailbox' ? await findMailbox(address) : id) ?? '' },
            actions: actions.filter((each) => offered(type, isFull).includes(each)),
            note,
          },
        }),
      ),
    invalidates: INVALIDATES,
    message: (incident) =>
      incident.actions.every((each) => each.result === 'done' || each.result === 'unchanged')
        ? 'The incident is open.'
        : 'The incident is open, but some actions have failed.',
    onSuccess: (incident) => {
      form.markSaved()
      void navigate({ to: PATHS.incident, params: { id: incident.id } })
    },
  })
  const initial: Values = { type: props.type, id: props.id ?? null, address: props.address ?? '', actions: USUAL, note: '' }
  const form = useForm<Values>(initial, save.error)
  const { type, actions } = form.values
  const toggle = (action: IncidentAction, isChosen: boolean) =>
    form.set('actions', isChosen ? [...actions, action] : actions.filter((each) => each !== action))
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      isDirty={form.isDirty}
      formFields={[...form.names, 'subject.id']}
      actions={<FormButtons submit="Carry out" isPending={save.isPending} onCancel={props.onCancel} />}
    >
      {role !== 'domain_admin' && (
        <Select
          label="About"
          data={Object.entries(SUBJECT_TYPES).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
          value={type}
          onChange={(value) => form.set('type', value as SubjectType)}
        />
      )}
      {type === 'mailbox' ? (
        <TextInput
          label="Address of the mailbox"
          description="Its own address, not an alias"
          placeholder="alice@example.com"
          autoComplete="off"
          data-autofocus
          {...form.textField('address')}
        />
      ) : (
        <SubjectSelect key={type} type={type} {...form.field('id')} error={form.errorOf('id') ?? form.errorOf('subject.id')} />
      )}
      <Input.Wrapper label="Actions" description="Each is carried out even if another one fails" error={form.errorOf('actions')}>
        <div className="stack" role="group" aria-label="Actions">
          {offered(type, isFull).map((action) => (
            <Checkbox
              key={action}
              label={ACTIONS[action].label}
              description={ACTIONS[action].help}
              checked={actions.includes(action)}
              onChange={(event) => toggle(action, event.currentTarget.checked)}
            />
          ))}
        </div>
      </Input.Wrapper>
      <TextInput label="Note" description="Why; it is the reason of the suspension" {...form.textField('note')} />
    </Form>
  )
}

function offered(type: SubjectType, isFull: boolean): readonly IncidentAction[] {
  return ACTION_NAMES.filter((each) => ACTIONS[each].subjects.includes(type) && (isFull || !ACTIONS[each].full))
}

async function findMailbox(address: string): Promise<string> {
  const wanted = address.trim().toLowerCase()
  const rows = wanted ? await fetchData(client.GET('/mailboxes', { params: { query: { q: wanted, limit: 200 } } })) : []
  const found = rows.find((each) => each.address.toLowerCase() === wanted)
  if (found) return found.id
  const message = wanted
    ? `There is no mailbox ${wanted}. If it is an alias, its messages show which mailbox or API key sends as it.`
    : 'Enter the address of a mailbox.'
  throw new ApiError({ code: 'NOT_FOUND', message, details: { field: 'address' } })
}

function SubjectSelect(props: {
  type: 'api_key' | 'admin'
  value: string | null
  onChange: (value: string | null) => void
  error?: string | undefined
}) {
  const { type, ...field } = props
  const { id } = useAccount()
  const { data } = useQuery({
    queryKey: [type === 'admin' ? 'admins' : 'api-keys', 'choice'],
    queryFn: async () =>
      type === 'admin'
        ? (await fetchData(client.GET('/admins'))).filter((each) => each.id !== id).map(({ id: value, email }) => ({ value, label: email }))
        : (await fetchData(client.GET('/api-keys'))).map((each) => ({ value: each.id, label: `${each.name} (${each.key_prefix}…)` })),
  })
  return <Select label={SUBJECT_TYPES[type]} placeholder="Select" data={data ?? []} searchable data-autofocus {...field} />
}
