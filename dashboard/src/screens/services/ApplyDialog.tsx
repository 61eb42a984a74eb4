import { Checkbox, NumberInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client, fetchData } from '../../api/client'
import { ApiError } from '../../api/errors'
import { useSearchParams } from '../../search'
import { Confirm } from '../../ui/Confirm'
import { useApiMutation } from '../../ui/useForm'
import { RecentSignIn, useRecentSignIn } from '../../ui/RecentSignIn'
import { Checks } from './PlanDetails'
import { type Plan, planQuery } from './queries'

/** Why an apply was refused, if the dialog explains it. */
function reasonOf(error: unknown): unknown {
  return error instanceof ApiError ? error.details['reason'] : undefined
}

interface Props {
  plan: Plan
  /** Files that were edited by hand (`service/path`) whose edits are dropped. */
  overwrite?: readonly string[]
  /** Files whose edits become settings. */
  adopt?: readonly string[]
  onClose: () => void
}

/** Asks before a plan is applied. A plan that has changed meanwhile replaces the shown one. */
export function ApplyDialog({ plan, overwrite = [], adopt = [], onClose }: Props) {
  const queries = useQueryClient()
  const [, change] = useSearchParams()
  const [seconds, setSeconds] = useState<number | string>(30)
  const [isOverwriting, setOverwriting] = useState(false)
  const apply = useApiMutation({
    request: () =>
      fetchData(
        client.POST('/orchestrator/apply', {
          body: {
            plan_id: plan.id,
            watch_seconds: Number(seconds),
            overwrite_drift: [...overwrite, ...(isOverwriting ? drifted : [])],
            adopt_drift: [...adopt],
            ...signIn.body,
          },
        }),
      ).catch((error: unknown) => {
        if (error instanceof ApiError && reasonOf(error) === 'plan_stale' && error.details['plan'])
          queries.setQueryData(planQuery().queryKey, error.details['plan'] as Plan)
        throw error
      }),
    invalidates: ['orchestrator', 'config'],
    onSuccess: (answer) => {
      onClose()
      change({ operation: answer.operation_id })
    },
  })
  const { error } = apply
  const signIn = useRecentSignIn(error)
  const [drifted, setDrifted] = useState<string[]>([])
  const files = error instanceof ApiError && reasonOf(error) === 'drifted' ? (error.details['files'] as string[]) : drifted
  if (files !== drifted && files.join() !== drifted.join()) setDrifted(files)
  const interrupts = plan.actions.filter((each) => each.interrupts)
  return (
    <Confirm
      opened
      onClose={onClose}
      title="Apply the plan"
      action="Apply"
      size="lg"
      isPending={apply.isPending}
      isDisabled={(drifted.length > 0 && !isOverwriting) || !signIn.isReady}
      error={signIn.otherError}
      onConfirm={() => apply.mutate(undefined)}
    >
      <div className="stack">
        {reasonOf(error) === 'plan_stale' && (
          <p className="strong">The plan has changed or expired. Close this dialog to view the new plan, or apply it now.</p>
        )}
        <p>
          {interrupts.length > 0 ? 'Users notice:' : 'Users notice nothing.'} If a service fails afterwards, the earlier configuration is
          restored.
        </p>
        {overwrite.length > 0 && <p>Overwritten with Mailkeep’s own version: {overwrite.join(', ')}.</p>}
        {adopt.length > 0 && <p>Adopted into the settings, as a new revision: {adopt.join(', ')}.</p>}
        {signIn.isNeeded && <RecentSignIn {...signIn.promptProps} consequence="Sign in again, then decide again." />}
        {interrupts.length > 0 && (
          <ul className="lines">
            {interrupts.map((each) => (
              <li key={each.service}>
                <span>
                  <span className="strong">{each.service}</span>: {each.interrupts}
                </span>
              </li>
            ))}
          </ul>
        )}
        {error instanceof ApiError && reasonOf(error) === 'check_failed' && <Checks checks={error.details['checks'] as Plan['checks']} />}
        {drifted.length > 0 && (
          <Checkbox
            label={`Overwrite the edits by hand of ${drifted.join(', ')}`}
            checked={isOverwriting}
            onChange={(event) => setOverwriting(event.currentTarget.checked)}
          />
        )}
        <NumberInput
          label="Watch the services for (seconds)"
          value={seconds}
          onChange={setSeconds}
          min={5}
          max={600}
          allowDecimal={false}
        />
      </div>
    </Confirm>
  )
}
