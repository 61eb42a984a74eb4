import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Allowed, useDenialReason } from '../../access/Allowed'
import type { Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { Badge } from '../../ui/Badge'
import { CopyableCode } from '../../ui/Copy'
import { LoadingLines } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ErrorBar } from '../../ui/ErrorBar'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Facts, Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { useReady } from '../../ui/useReady'
import { pluralize } from '../../units'
import { busyProps, checkDomain, domainReportQuery, useCheck } from '../dns/queries'
import { RecordDetails, RecordFields } from '../dns/Record'
import type { DnsRecord } from '../dns/records'
import { ActivateKey, DeleteKey, RetireKey } from './changes'
import { Delegation } from './Delegation'
import { NewKey } from './NewKey'
import { ALGORITHMS, allowedChanges, describeStage, type DkimKey, findReplaced, nextRotation, STAGE_TONES, toRecord } from './keys'
import { keysQuery, rotationQuery } from './queries'

type Change = { kind: 'activate' | 'retire' | 'delete'; key: DkimKey }

/** The DKIM keys of a domain: their records, their stages, and how they are replaced. */
export default function DkimTab({ domain }: { domain: Schema['DomainRecord'] }) {
  const keys = useQuery(keysQuery(domain.id))
  const reportQuery = domainReportQuery(domain.id)
  const report = useQuery(reportQuery)
  const check = useCheck(reportQuery, () => checkDomain(domain.id))
  const [isNew, setNew] = useState<'generate' | 'import' | null>(null)
  const [change, setChange] = useState<Change | null>(null)
  const isReady = useReady(!keys.isPending && !report.isPending)
  if (!keys.data || !isReady) return keys.error ? <ErrorNote error={keys.error} /> : <LoadingLines count={8} />
  const rows = keys.data
  const present = rows.filter((key) => key.stage !== 'retired')
  const retired = rows.filter((key) => key.stage === 'retired')
  const card = (key: DkimKey) => (
    <Key
      key={key.id}
      dkimKey={key}
      keys={rows}
      record={toRecord(key, report.data?.records ?? [])}
      onChange={(kind) => setChange({ kind, key })}
    />
  )
  const close = () => setChange(null)
  const changed = change && rows.find((key) => key.id === change.key.id)
  return (
    <>
      {keys.error && <ErrorNote error={keys.error} />}
      <Section
        title="DKIM keys"
        lead="Outgoing mail is signed with each active key. Receivers look up its record in the domain’s DNS."
        actions={
          <>
            {report.data && !report.data.setup && (
              <Allowed action="dns.check">
                <Button
                  variant="default"
                  leftSection={<Icon name="refresh" size={16} />}
                  {...busyProps(check.isBusy)}
                  onClick={check.start}
                >
                  Check now
                </Button>
              </Allowed>
            )}
            <Allowed action="dkim.write">
              <Button variant="default" onClick={() => setNew('import')}>
                Import key
              </Button>
            </Allowed>
            <Allowed action="dkim.write">
              <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setNew('generate')}>
                New key
              </Button>
            </Allowed>
          </>
        }
      >
        <ErrorBar error={check.error} />
        {present.length === 0 ? (
          <EmptyState icon="key" title="No keys in use">
            Mail of this domain is not signed. Create a key, publish its record, and activate it.
          </EmptyState>
        ) : (
          <ul className="dkim-keys" aria-label="DKIM keys">
            {present.map(card)}
          </ul>
        )}
      </Section>
      <Rotation keys={rows} />
      <Delegation domain={domain} />
      {retired.length > 0 && (
        <Section title="Retired keys" lead="Their records are safe to remove from DNS. A retired key is deleted after a year.">
          <ul className="dkim-keys" aria-label="Retired keys">
            {retired.map(card)}
          </ul>
        </Section>
      )}
      <NewKey domain={domain} mode={isNew} onClose={() => setNew(null)} />
      {changed && change.kind === 'activate' && (
        <ActivateKey domainId={domain.id} dkimKey={changed} replaced={findReplaced(rows, changed)} onClose={close} />
      )}
      {changed && change.kind === 'retire' && <RetireKey domainId={domain.id} dkimKey={changed} onClose={close} />}
      {changed && change.kind === 'delete' && <DeleteKey domainId={domain.id} dkimKey={changed} onClose={close} />}
    </>
  )
}

interface KeyProps {
  dkimKey: DkimKey
  keys: readonly DkimKey[]
  record: DnsRecord
  onChange: (kind: Change['kind']) => void
}

function Key({ dkimKey: key, keys, record, onChange }: KeyProps) {
  const allowed = allowedChanges(keys, key)
  const button = (kind: Change['kind'], label: string, reason: string | null = null) => (
    <Allowed action="dkim.write" disabledReason={reason}>
      <Button
        size="xs"
        variant={kind === 'activate' ? 'light' : 'default'}
        aria-label={`${label} ${key.selector}`}
        onClick={() => onChange(kind)}
      >
        {label}
      </Button>
    </Allowed>
  )
  return (
    <li className="dkim-key">
      <div className="between">
        <h3 className="row">
          <span className="break">{key.selector}</span>
          <Badge tone={STAGE_TONES[key.stage]}>{key.stage}</Badge>
          {key.automatic && <Badge>automatic rotation</Badge>}
        </h3>
        <div className="row">
          {allowed.activate && button('activate', 'Activate')}
          {allowed.retire &&
            button('retire', 'Retire', allowed.isLastActive ? 'It is the only active key: activate another one first.' : null)}
          {allowed.delete && button('delete', 'Delete')}
        </div>
      </div>
      <p>{describeStage(key)}</p>
      {key.warnings.map((warning) => (
        <div className="note note-warn" key={warning}>
          <Icon name="warn" />
          <div>
            <p>{warning}</p>
          </div>
        </div>
      ))}
      {key.stage !== 'retired' && (
        <ul className="dns-list">
          <RecordDetails record={record} title={`${record.type} record`} />
        </ul>
      )}
      {key.stage !== 'retired' && key.dns.target && (
        <details className="dns-record">
          <summary>
            <span className="dns-title">Record of the server, to which the CNAME leads</span>
          </summary>
          <div className="dns-body">
            <p className="muted small">It belongs into the DNS of the server’s name, not of this domain.</p>
            <RecordFields record={{ type: 'TXT', ...key.dns.target }} of={key.dns.target.name} />
          </div>
        </details>
      )}
      <Facts
        rows={[
          ['Algorithm', ALGORITHMS[key.algorithm]],
          ['Created', <Time at={key.created_at} />],
          ...(key.activated_at ? [['Activated', <Time at={key.activated_at} />] as const] : []),
          ...(key.retiring_at ? [['Stopped signing', <Time at={key.retiring_at} />] as const] : []),
          ...(key.retired_at ? [['Retired', <Time at={key.retired_at} />] as const] : []),
          ...(key.stage === 'retired' ? [['Name of its record', <CopyableCode value={key.dns.name} what="name" />] as const] : []),
          ['Fingerprint (SHA-256)', <CopyableCode value={key.fingerprint_sha256} what={`fingerprint of ${key.selector}`} />],
        ]}
      />
    </li>
  )
}

/** How keys are replaced: by the administrator, or automatically. Only who may read settings sees which. */
function Rotation({ keys }: { keys: readonly DkimKey[] }) {
  const isDenied = useDenialReason('config.write') !== null
  const { data: days, error } = useQuery({ ...rotationQuery(), enabled: !isDenied })
  const next = days ? nextRotation(keys, days) : null
  return (
    <Section
      title="Rotation"
      lead="A new key replaces an old one without a message that can’t be verified."
      actions={
        !isDenied && (
          <Link to={PATHS.settings} search={{ q: 'dkim.rotate_days' }}>
            Automatic rotation
          </Link>
        )
      }
    >
      <ol className="dkim-steps">
        <li>Create a key and publish its record. The old key keeps signing.</li>
        <li>Activate the new key when every name server shows its record. The old key retires.</li>
        <li>Remove the old key’s record when it is shown as safe to remove.</li>
      </ol>
      {!isDenied && (
        <p role="status">
          {error && 'The setting of the automatic rotation could not be read.'}
          {days === undefined && !error && <span className="muted">…</span>}
          {days === 0 && 'Automatic rotation is off: keys stay active until you replace them.'}
          {days !== undefined && days > 0 && (
            <>
              Mailkeep takes these steps itself when a key is {pluralize(days, 'day')} old, and asks for the publication of the record by
              mail and event.{' '}
              {next && (
                <>
                  Next: <Time at={next} form="ago" />.
                </>
              )}
            </>
          )}
        </p>
      )}
    </Section>
  )
}
