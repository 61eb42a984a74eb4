import { Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { fieldErrors } from '../../api/errors'
import { domainsQuery } from '../domains/DomainSelect'
import { formatExample, nestValues, parseExample } from '../templates/values'

interface Props {
  /** The sender's address: templates of other domains can't be used. */
  sender: string
  template: string | null
  /** Typed values by the names of the variables. */
  variables: Readonly<Record<string, string>>
  onTemplate: (id: string | null) => void
  onVariables: (variables: Record<string, string>) => void
  /** The error of the last send. */
  error: unknown
}

/** Selects a template, and takes the values of its variables. */
export function TemplateFields({ sender, template, variables, onTemplate, onVariables, error }: Props) {
  const errors = fieldErrors(error)
  const domains = useQuery(domainsQuery()).data?.rows ?? []
  const domain = domains.find((row) => [row.name, row.unicode_name].includes(sender.trim().split('@')[1] ?? ''))
  const list = useQuery({
    queryKey: ['templates', 'choice'],
    queryFn: () => fetchPage(client.GET('/templates', { params: { query: { limit: 200, sort: 'name', order: 'asc' } } })),
  }).data?.rows
  const usable = list?.filter(
    (row) => row.published_version !== null && (row.id === template || !domain || row.domain_id === null || row.domain_id === domain.id),
  )
  const version = list?.find((row) => row.id === template)?.published_version
  const published = useQuery({
    queryKey: ['templates', 'version', template, version],
    queryFn: () =>
      fetchData(client.GET('/templates/{id}/versions/{version}', { params: { path: { id: template ?? '', version: String(version) } } })),
    enabled: Boolean(template && version),
  }).data
  return (
    <div className="template-fields">
      <Select
        id="compose-body"
        aria-label="Template"
        placeholder="Select a published template"
        searchable
        nothingFoundMessage="No published templates"
        data={(usable ?? []).map((row) => ({ value: row.id, label: row.name }))}
        value={template}
        onChange={onTemplate}
        error={errors['template_id']}
      />
      {published?.variables.map((variable) => (
        <TextInput
          key={variable.name}
          label={variable.name}
          description={variable.required ? 'Text or JSON' : 'Text or JSON; optional'}
          placeholder={formatExample(variable.example)}
          autoComplete="off"
          value={variables[variable.name] ?? ''}
          onChange={(event) => onVariables({ ...variables, [variable.name]: event.currentTarget.value })}
          error={errors[`variables.${variable.name}`]}
        />
      ))}
    </div>
  )
}

/** The fields of POST /send for a template; blank values are left out. */
export function toTemplateValues(values: {
  subject: string
  template: string | null
  variables: Readonly<Record<string, string>>
}): Pick<Schema['SendBody'], 'template_id' | 'variables' | 'subject'> {
  const typed = Object.entries(values.variables).filter(([, text]) => text.trim())
  return {
    ...(values.subject && { subject: values.subject }),
    ...(values.template && { template_id: values.template }),
    ...(typed.length &&
      values.template && { variables: nestValues(Object.fromEntries(typed.map(([name, text]) => [name, parseExample(text)]))) }),
  }
}
