import { PATHS } from '../paths'
import { EmptyState } from '../ui/Empty'
import { LinkButton } from '../ui/links'
import { Page } from '../ui/Page'

/** Shown instead of an unavailable screen: the reason and another screen. */
export function Unavailable({ title, reason, queue }: { title: string; reason: string; queue: boolean }) {
  return (
    <Page title={title}>
      <div className="card">
        <EmptyState
          icon={queue ? 'queue' : 'shield'}
          title={queue ? 'No queue' : 'Not available'}
          action={
            queue ? (
              <LinkButton to={PATHS.messages} search={{ status: 'deferred' }} variant="default">
                View deferred messages
              </LinkButton>
            ) : (
              <LinkButton to={PATHS.overview} variant="default">
                Overview
              </LinkButton>
            )
          }
        >
          {reason}
        </EmptyState>
      </div>
    </Page>
  )
}
