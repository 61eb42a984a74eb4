import { ActionIcon, Button, Checkbox, SegmentedControl, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { fieldErrors } from '../../api/errors'
import { ConflictDialog, useVersion } from '../../ui/ConflictDialog'
import { Form } from '../../ui/Form'
import { Icon } from '../../ui/Icon'
import { RequestButton } from '../../ui/RequestSnippet'
import { useApiMutation, useForm } from '../../ui/useForm'
import { Preview } from './Preview'
import { toRows, toVariables, type VariableRow } from './values'

type Template = Schema['TemplateDetail']
type Values = ReturnType<typeof toValues>

const LABELS = {
  name: 'Name',
  subject: 'Subject',
  html_body: 'HTML',
  text_body: 'Text',
  variables: 'Variables',
  inline_css: 'Inline CSS',
}

/** Edits the draft, with a preview beside it that follows while typing. */
export function Editor({ template }: { template: Template }) {
  const version = useVersion(`/templates/${template.id}`)
  const save = useApiMutation({
    request: (values: Values) =>
      fetchData(
        client.PATCH('/templates/{id}', { params: { path: { id: template.id }, header: version.header }, body: patchBody(values) }),
      ),
    invalidates: ['templates'],
    message: 'Draft saved.',
    onSuccess: () => {
      form.markSaved()
      version.refresh()
    },
  })
  const form = useForm<Values>(toValues(template), save.error)
  const [part, setPart] = useState<'html_body' | 'text_body'>(template.html_body === null ? 'text_body' : 'html_body')
  const content = trialBody(form.values)
  return (
    <div className="template-editor">
      <Form
        onSubmit={() => save.mutate(form.values)}
        error={save.error}
        isDirty={form.isDirty}
        formFields={form.names}
        actions={
          <>
            <RequestButton call={{ method: 'PATCH', path: `/templates/${template.id}`, body: patchBody(form.values) }} />
            <Button type="submit" loading={save.isPending}>
              Save draft
            </Button>
          </>
        }
      >
        <TextInput label="Name" autoComplete="off" {...form.textField('name')} />
        <TextInput label="Subject" classNames={{ input: 'mono' }} autoComplete="off" spellCheck={false} {...form.textField('subject')} />
        <div className="stack-small">
          <div className="between">
            <label htmlFor="template-body" className="field-label">
              Body
            </label>
            <SegmentedControl
              size="xs"
              aria-label="Body format"
              value={part}
              onChange={(value) => setPart(value as 'html_body' | 'text_body')}
              data={[
                { value: 'html_body', label: 'HTML' },
                { value: 'text_body', label: 'Text' },
              ]}
            />
          </div>
          <Textarea
            key={part}
            id="template-body"
            rows={16}
            resize="vertical"
            classNames={{ input: 'mono' }}
            spellCheck={false}
            placeholder={part === 'html_body' ? '<p>Hello {{ name }} …</p>' : 'Blank: the text is derived from the HTML'}
            {...form.textField(part)}
          />
        </div>
        <Switch label="Inline CSS" description="Moves style sheets into style attributes." {...form.checkbox('inline_css')} />
        <Variables rows={form.values.variables} onChange={(rows) => form.set('variables', rows)} error={variableError(save.error)} />
        <ConflictDialog
          error={save.error}
          form={form}
          version={version}
          labels={LABELS}
          show={{ variables: (value) => (value as VariableRow[]).map((row) => row.name).join(', ') || 'None' }}
          load={async () => toValues(await fetchData(client.GET('/templates/{id}', { params: { path: { id: template.id } } })))}
          onClose={save.reset}
          onSave={save.mutate}
        />
      </Form>
      <Preview
        input={content}
        queryKey={['draft', template.id]}
        request={() => fetchData(client.POST('/templates/render', { body: content }))}
      />
    </div>
  )
}

/** The first error of a variable, with the number of its row. */
function variableError(error: unknown): string | undefined {
  const found = Object.entries(fieldErrors(error)).find(([field]) => field.startsWith('variables'))
  return found && `${found[0].replace(/^variables\[(\d+)\].*/, (_, index) => `Row ${Number(index) + 1}`)}: ${found[1]}`
}

/** The declared variables: one row each. */
function Variables(props: { rows: readonly VariableRow[]; onChange: (rows: VariableRow[]) => void; error: string | undefined }) {
  const { rows, onChange, error } = props
  const change = (index: number, changes: Partial<VariableRow>) =>
    onChange(rows.map((row, position) => (position === index ? { ...row, ...changes } : row)))
  return (
    <fieldset className="template-variables">
      <legend className="field-label">Variables</legend>
      <p className="muted small">Names may be dotted (order.id). Examples are text or JSON, and are used for previews.</p>
      {rows.map((row, index) => (
        <div className="template-variable" key={index}>
          <TextInput
            aria-label={`Name of variable ${index + 1}`}
            placeholder="order.id"
            autoComplete="off"
            spellCheck={false}
            value={row.name}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
          />
          <TextInput
            aria-label={`Example of variable ${index + 1}`}
            placeholder="Example"
            autoComplete="off"
            value={row.example}
            onChange={(event) => change(index, { example: event.currentTarget.value })}
          />
          <Checkbox
            label="Required"
            checked={row.required}
            onChange={(event) => change(index, { required: event.currentTarget.checked })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={`Remove variable ${index + 1}`}
            onClick={() => onChange(rows.filter((_, position) => position !== index))}
          >
            <Icon name="trash" size={16} />
          </ActionIcon>
        </div>
      ))}
      <p className="field-error small" role={error ? 'alert' : undefined}>
        {error}
      </p>
      <div>
        <Button
          variant="default"
          size="xs"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => onChange([...rows, { name: '', required: true, example: '' }])}
        >
          Add variable
        </Button>
      </div>
    </fieldset>
  )
}

function toValues(template: Template) {
  return {
    name: template.name,
    subject: template.subject,
    html_body: template.html_body ?? '',
    text_body: template.text_body ?? '',
    inline_css: template.inline_css,
    variables: toRows(template.variables),
  }
}

function patchBody(values: Values): Schema['TemplatePatch'] {
  return {
    name: values.name.trim(),
    subject: values.subject,
    html_body: values.html_body || null,
    text_body: values.text_body || null,
    inline_css: values.inline_css,
    variables: toVariables(values.variables),
  }
}

function trialBody(values: Values): Schema['TemplateTrial'] {
  return {
    subject: values.subject,
    ...(values.html_body && { html_body: values.html_body }),
    ...(values.text_body && { text_body: values.text_body }),
    inline_css: values.inline_css,
    variables: toVariables(values.variables),
  }
}
