import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { versionQuery } from '../../api/queries'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { DetailTabs } from '../../ui/DetailTabs'
import { Icon } from '../../ui/Icon'
import { Page } from '../../ui/Page'
import { DriftedFiles } from './DriftedFiles'
import { Generations } from './Generations'
import { describeOperation, OperationBadge, OperationModal } from './OperationModal'
import { Operations } from './Operations'
import { PlanTab } from './PlanTab'
import { overviewQuery, useOperation } from './queries'
import { ServiceTable } from './ServiceTable'

/** The daemons and processes: state, what changed settings will change, edits by hand, operations. */
export function Services() {
  const { data: version } = useQuery(versionQuery())
  const isEmbedded = version?.profile === 'embedded'
  const [{ operation }, change] = useSearchParams()
  return (
    <Page
      title="Services"
      lead="The mail server’s daemons and Mailkeep’s processes, and the daemons’ configuration."
      actions={<RunningOperation />}
    >
      {isEmbedded && (
        <div className="note">
          <Icon name="info" />
          <div>
            <p className="note-title">The embedded profile has one process</p>
            <p>Postfix, Dovecot, Rspamd and Redis, and operations on services, need the full profile.</p>
          </div>
        </div>
      )}
      <DetailTabs
        tabs={[
          { value: 'state', label: 'State', content: <ServiceTable /> },
          { value: 'plan', label: 'Plan', content: <PlanTab isEmbedded={isEmbedded} /> },
          { value: 'drift', label: 'Drift', content: <DriftedFiles isEmbedded={isEmbedded} /> },
          { value: 'operations', label: 'Operations', content: <Operations /> },
          { value: 'generations', label: 'Generations', content: <Generations /> },
        ]}
      />
      <OperationModal id={operation} onClose={() => change({ operation: undefined })} />
    </Page>
  )
}

/** On all tabs, while an operation runs. */
function RunningOperation() {
  const overview = useQuery(overviewQuery())
  const id = overview.data?.operation_id
  const { data } = useOperation(id)
  return (
    <p role="status">
      {id && data?.state === 'running' && (
        <>
          <OperationBadge operation={data} />{' '}
          <Link to={PATHS.services} search={(before) => ({ ...before, operation: id })} replace resetScroll={false}>
            {describeOperation(data)}
          </Link>
        </>
      )}
    </p>
  )
}
