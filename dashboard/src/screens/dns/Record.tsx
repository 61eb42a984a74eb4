import { type ReactNode, useId } from 'react'
import { Badge } from '../../ui/Badge'
import { CopyButton } from '../../ui/Copy'
import { Section } from '../../ui/Page'
import { type DnsRecord, describeAdvice, describeStatus, isOpenAtFirst, PURPOSES, splitValue } from './records'
import { withCode } from './withCode'
import './dns.css'

/** The fields of a record to publish, each with a button that copies it. */
export function RecordFields({ record, of }: { record: Pick<DnsRecord, 'type' | 'name' | 'value'>; of?: string }) {
  const fields = [['Name', record.name] as const, ['Type', record.type] as const, ...splitValue(record)]
  return (
    <dl className="dns-fields">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{value}</code>
            <CopyButton text={value} what={`${name.toLowerCase()}${of ? ` of ${of}` : ''}`} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** A record to publish: what is expected, what was found, and what to do. Open if something is to be done. */
export function RecordDetails(props: { record: DnsRecord; title?: string; unknownValue?: ReactNode }) {
  const { record, unknownValue, title = PURPOSES[record.purpose] } = props
  const status = describeStatus(record)
  // Nothing is checked while the server has no name: the summary says so, once.
  const isChecked = record.status !== 'not_checked'
  const problem = isChecked ? record.problem : null
  const advice = isChecked ? describeAdvice(record) : null
  const id = useId()
  return (
    <li>
      {/* A new status opens or closes it again. */}
      <details key={record.status} className="dns-record" open={isOpenAtFirst(record)}>
        <summary>
          <span className="dns-title" id={id}>
            {title}
          </span>
          <code className="dns-name">{record.name}</code>
          <Badge tone={status.tone}>{status.text}</Badge>
        </summary>
        <div className="dns-body" role="group" aria-labelledby={id}>
          {record.description && <p className="muted small">{record.description}</p>}
          {problem && <p className="strong break">{withCode(problem)}</p>}
          {advice && <p className="break">{withCode(advice)}</p>}
          <div className="dns-sides">
            <div>
              <p className="dns-label">Expected</p>
              {record.value === null ? (
                <p className="muted small">{unknownValue ?? 'No certain value: this record is shown for information.'}</p>
              ) : (
                <RecordFields record={record} of={record.name} />
              )}
            </div>
            <div>
              <p className="dns-label">Found</p>
              <Found record={record} />
            </div>
          </div>
        </div>
      </details>
    </li>
  )
}

function Found({ record: { status, found } }: { record: DnsRecord }) {
  if (status === 'not_checked') return <p className="muted small">Not checked yet.</p>
  if (status === 'dns_error') return <p className="muted small">The name servers did not answer.</p>
  if (found.length === 0) return <p className="muted small">Nothing.</p>
  return (
    <ul className="dns-found">
      {found.map((value) => (
        <li key={value}>
          <code>{value}</code>
        </li>
      ))}
    </ul>
  )
}

/** Records in two groups: those that mail needs, and the others. */
export function RecordGroups({ records, unknownValue }: { records: readonly DnsRecord[]; unknownValue?: ReactNode }) {
  const groups = [
    { title: 'Required', text: 'Mail suffers without these.', records: records.filter((each) => each.required) },
    { title: 'Recommended', text: 'Mail works without these, but better with them.', records: records.filter((each) => !each.required) },
  ]
  return groups
    .filter((group) => group.records.length > 0)
    .map((group) => (
      <Section key={group.title} title={group.title} lead={describeGroup(group.text, group.records)}>
        <ul className="dns-list" aria-label={`${group.title} records`}>
          {group.records.map((record) => (
            <RecordDetails
              key={`${record.purpose} ${record.type} ${record.name} ${record.value}`}
              record={record}
              unknownValue={unknownValue}
            />
          ))}
        </ul>
      </Section>
    ))
}

function describeGroup(text: string, records: readonly DnsRecord[]): string {
  if (records.every((each) => each.status === 'not_checked')) return text
  return `${text} ${records.filter((each) => each.status === 'ok').length} of ${records.length} are ok.`
}
