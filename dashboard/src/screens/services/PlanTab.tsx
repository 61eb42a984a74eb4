import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from '@tanstack/react-router'
import { Allowed } from '../../access/Allowed'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { LoadingLines } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { ApplyDialog } from './ApplyDialog'
import { PlanDetails, wouldChange } from './PlanDetails'
import { planQuery } from './queries'

/** What the newest settings would change. */
export function PlanTab({ isEmbedded }: { isEmbedded: boolean }) {
  const [isApplying, setApplying] = useState(false)
  const [{ operation }] = useSearchParams()
  // The running operation is shown in place of the dialog that it refused.
  useEffect(() => {
    if (operation) setApplying(false)
  }, [operation])
  const { data, error, isFetching, refetch, dataUpdatedAt } = useQuery(planQuery())
  if (!data) return error ? <ErrorNote error={error} /> : <LoadingLines count={8} />
  const isChange = wouldChange(data)
  return (
    <>
      <div className="between">
        <p className="muted small" role="status">
          Created <Time at={new Date(dataUpdatedAt).toISOString()} form="exact" />. Nothing was changed.
        </p>
        <Button
          size="xs"
          variant="default"
          loading={isFetching}
          leftSection={<Icon name="refresh" size={14} />}
          onClick={() => void refetch()}
        >
          Plan again
        </Button>
      </div>
      {error && <ErrorNote error={error} />}
      {isChange ? (
        <Section
          title="Change"
          lead={
            data.target > data.base
              ? `From revision ${data.base} of the settings to revision ${data.target}. ${isEmbedded ? 'It takes effect when you restart Mailkeep on the server.' : 'It takes effect when it is applied, or with the next start of Mailkeep.'}`
              : 'Mailkeep would write other files than those in use.'
          }
          actions={
            <>
              {data.settings.length > 0 && (
                <Link to={PATHS.settings} search={{ show: 'pending' }}>
                  View these settings
                </Link>
              )}
              {!isEmbedded && (
                <Allowed action="orchestrator.write">
                  <Button size="xs" onClick={() => setApplying(true)}>
                    Apply
                  </Button>
                </Allowed>
              )}
            </>
          }
        >
          <PlanDetails plan={data} />
        </Section>
      ) : (
        <div className="card">
          <EmptyState icon="check" title="Nothing would change">
            {isEmbedded ? 'All saved settings are in effect.' : 'The daemons use the configuration of the newest settings.'}
          </EmptyState>
        </div>
      )}
      {!isChange && (data.warnings.length > 0 || data.files.length > 0) && (
        <Section title="Edited by hand">
          <PlanDetails plan={data} />
        </Section>
      )}
      {isApplying && <ApplyDialog plan={data} onClose={() => setApplying(false)} />}
    </>
  )
}
