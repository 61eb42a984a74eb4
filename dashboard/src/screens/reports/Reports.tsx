import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from '../../search'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { DmarcReports } from './DmarcReports'
import { dmarcQuery, type Advice, type Period, PERIODS, tlsQuery } from './queries'
import { ReportList } from './ReportList'
import { TlsReports } from './TlsReports'
import { UploadReport } from './UploadReport'

/** What other mail servers report about a domain: advice first, then the figures, then the reports themselves. */
export function Reports({ domainId }: { domainId: string }) {
  const [params, change] = useSearchParams()
  const period = PERIODS.find((each) => each.value === params['period'])?.value ?? '30d'
  const dmarc = useQuery(dmarcQuery(domainId, period))
  const tls = useQuery(tlsQuery(domainId, period))
  const error = dmarc.error ?? tls.error
  return (
    <>
      <div className="between">
        <SegmentedControl
          aria-label="Period"
          data={PERIODS.map((each) => ({ ...each }))}
          value={period}
          onChange={(value) => change({ period: (value as Period) === '30d' ? undefined : value })}
        />
        <UploadReport />
      </div>
      {error && <ErrorNote error={error} />}
      {dmarc.data && tls.data ? (
        <>
          <DmarcReports summary={dmarc.data} />
          <TlsReports summary={tls.data} />
        </>
      ) : (
        !error && <LoadingLines count={8} />
      )}
      <ReportList domainId={domainId} />
    </>
  )
}

const NOTES = { ok: 'note-good', info: '', warning: 'note-warn' } as const

/** Sentences for the administrator, the most important first. */
export function AdviceNotes({ items }: { items: readonly Advice[] }) {
  return items.map((item) => (
    <div key={item.code + item.text} className={`note ${NOTES[item.level]}`}>
      <Icon name={item.level === 'ok' ? 'check' : item.level === 'warning' ? 'warn' : 'info'} />
      <p>{item.text}</p>
    </div>
  ))
}
