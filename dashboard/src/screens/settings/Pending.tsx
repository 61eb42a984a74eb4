import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from '@tanstack/react-router'
import { Allowed } from '../../access/Allowed'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { pluralize } from '../../units'
import { ApplyDialog } from '../services/ApplyDialog'
import { OperationModal } from '../services/OperationModal'
import { planQuery } from '../services/queries'
import type { Setting } from './values'

/** The settings that are saved but not in effect, and how they take effect. `isEditing`: there are other edits. */
export function Pending({ settings, isEditing }: { settings: readonly Setting[]; isEditing: boolean }) {
  const [{ operation }, change] = useSearchParams()
  const pending = settings.filter((each) => 'pending' in each)
  const needsRestart = pending.some((each) => each.services.includes('mailkeep'))
  return (
    <>
      {pending.length > 0 && (
        <div className="note" role="region" aria-label="Settings that are not applied yet">
          <Icon name="info" />
          <div>
            <p className="note-title" role="status">
              {pluralize(pending.length, 'saved setting')} {pending.length === 1 ? 'does' : 'do'} not apply yet
            </p>
            <p>
              {needsRestart
                ? 'Restart Mailkeep on the server, for example with “systemctl restart mailkeep”; then they apply.'
                : `An apply reloads or restarts the services that use ${pending.length === 1 ? 'it' : 'them'}.`}{' '}
              <Link to={PATHS.settings} search={{ show: 'pending' }}>
                View {pending.length === 1 ? 'this setting' : 'these settings'}
              </Link>
            </p>
            {!needsRestart && (
              <Allowed action="orchestrator.write">
                <ApplyNow isDisabled={isEditing} />
              </Allowed>
            )}
          </div>
        </div>
      )}
      <OperationModal id={operation} onClose={() => change({ operation: undefined })} />
    </>
  )
}

/** Fetches the plan, because it may have changed since the review, and asks. */
function ApplyNow({ isDisabled }: { isDisabled: boolean }) {
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const [{ operation }] = useSearchParams()
  const { data, error, isFetching } = useQuery({ ...planQuery(), enabled: isOpen })
  useEffect(() => {
    if (operation) setOpen(false)
  }, [operation])
  async function open() {
    await queries.invalidateQueries({ queryKey: planQuery().queryKey })
    setOpen(true)
  }
  return (
    <div className="row row-tight">
      <Button size="xs" loading={isOpen && isFetching && !data} disabled={isDisabled} onClick={() => void open()}>
        Apply now
      </Button>
      {isDisabled && <p className="muted small">Save or discard your changes first.</p>}
      {isOpen && !data && error && <ErrorNote error={error} />}
      {isOpen && data && <ApplyDialog plan={data} onClose={() => setOpen(false)} />}
    </div>
  )
}
