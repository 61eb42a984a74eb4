import { Button, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { Allowed, useDenialReason } from '../../access/Allowed'
import type { Action } from '../../access/policy'
import { client, fetchText } from '../../api/client'
import { PATHS } from '../../paths'
import { StatusBadge } from '../../ui/Badge'
import { writeClipboard } from '../../ui/Copy'
import { ErrorBar } from '../../ui/ErrorBar'
import { Icon } from '../../ui/Icon'
import { notify } from '../../ui/notify'
import { Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { pluralize } from '../../units'
import { busyProps, type Report, type useCheck } from './queries'
import { describeProgress, summarize } from './records'
import { withCode } from './withCode'

interface Props {
  report: Report
  check: ReturnType<typeof useCheck>
  checkAction: Action
  /** The path of the zone file in the API. */
  zonePath: string
  /** How downloads are named. */
  fileName: string
  children?: ReactNode
}

/** The result of the last check, "Check now" with its progress, and the zone file. */
export function Summary({ report, check, checkAction, zonePath, fileName, children }: Props) {
  const { records, setup } = report
  const isEmpty = records.every((record) => record.value === null)
  const unanswered = records.filter((record) => record.status === 'dns_error').length
  return (
    <Section
      title="DNS records"
      lead={summarize(report.status, records)}
      actions={
        <>
          {!isEmpty && <ZoneFileMenu path={zonePath} fileName={fileName} />}
          {!setup && (
            <Allowed action={checkAction}>
              <Button leftSection={<Icon name="refresh" size={16} />} {...busyProps(check.isBusy)} onClick={check.start}>
                Check now
              </Button>
            </Allowed>
          )}
        </>
      }
    >
      {setup && <Setup setup={setup} />}
      <div className="row">
        <StatusBadge status={report.status} />
        <span className="muted">
          {report.checked_at === null ? (
            'Never checked'
          ) : (
            <>
              Checked <Time at={report.checked_at} form="ago" />
            </>
          )}
        </span>
        <CheckProgress progress={report.check} isStarting={check.isStarting} />
      </div>
      {unanswered > 0 && (
        <div className="note note-warn">
          <Icon name="warn" />
          <div>
            <p className="note-title">No name server answered about {pluralize(unanswered, 'record')}</p>
            <p>
              That says nothing about the records. If it lasts, check the network of the server, and the name servers that it asks (setting{' '}
              <code>dns.servers</code>).
            </p>
          </div>
        </div>
      )}
      {children}
      <ErrorBar error={check.error} />
    </Section>
  )
}

/** Announced when it changes: to screen readers also the end. */
function CheckProgress({ progress, isStarting }: { progress: Report['check']; isStarting: boolean }) {
  const [now, setNow] = useState(Date.now)
  const isBusy = isStarting || progress.state !== 'idle'
  const [wasBusy, setWasBusy] = useState(isBusy)
  useEffect(() => {
    if (!isBusy) return
    setWasBusy(true)
    const timer = setInterval(() => setNow(Date.now()), 5_000)
    return () => clearInterval(timer)
  }, [isBusy])
  const text = describeProgress(progress, now) || (isStarting ? 'The check begins in a moment…' : wasBusy ? 'The check has ended.' : '')
  return (
    <span className="muted" role="status">
      {withCode(text)}
    </span>
  )
}

/** What has to be set before anything can be checked. */
export function Setup({ setup }: { setup: NonNullable<Report['setup']> }) {
  const denial = useDenialReason('config.write')
  return (
    <div className="note note-warn">
      <Icon name="warn" />
      <div>
        <p className="note-title">{withCode(setup.problem)}</p>
        <p>{withCode(setup.advice)}</p>
        <p>
          {denial ? (
            'Ask a super administrator to set it.'
          ) : (
            <Link to={PATHS.settings} search={{ q: 'server.hostname' }}>
              Set the server’s name
            </Link>
          )}
        </p>
      </div>
    </div>
  )
}

function ZoneFileMenu({ path, fileName }: { path: string; fileName: string }) {
  const [isOpen, setOpen] = useState(false)
  const zone = useQuery({
    queryKey: ['dns', 'zone file', path],
    queryFn: () => fetchText(client.GET(path as '/dns/server/zone-file', { params: { query: { format: 'bind' } }, parseAs: 'text' })),
    // Loaded before the click, because some browsers allow no pause before the clipboard is written.
    enabled: isOpen,
    staleTime: 0,
  })
  async function copyAll() {
    await writeClipboard(zone.data ?? '')
    notify('Copied all records.')
  }
  return (
    <Menu position="bottom-end" opened={isOpen} onChange={setOpen}>
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="down_load" size={16} />}>
          Zone file
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>All records with a value</Menu.Label>
        <Menu.Item disabled={!zone.data} onClick={() => void copyAll()}>
          Copy all
        </Menu.Item>
        <Menu.Item component="a" href={`/api/v1${path}?format=bind`} download={`${fileName}.zone`}>
          Download for BIND
        </Menu.Item>
        <Menu.Item component="a" href={`/api/v1${path}?format=json`} download={`${fileName}.json`}>
          Download as JSON
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
