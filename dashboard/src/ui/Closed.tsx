import { PATHS } from '../paths'
import { Empty } from './Empty'
import { LinkButton } from './links'
import { Page } from './Page'

/** In place of a screen that has nothing to show here: the reason, and where else to look. */
export function Closed({ title, reason, queue }: { title: string; reason: string; queue: boolean }) {
  return (
    <Page title={title}>
      <div className="card">
        <Empty
          icon={queue ? 'queue' : 'shield'}
          title={queue ? 'There is no queue to see' : 'Nothing to show here'}
          action={
            queue ? (
              <LinkButton to={PATHS.messages} search={{ status: 'deferred' }} variant="default">
                Messages that wait
              </LinkButton>
            ) : (
              <LinkButton to={PATHS.overview} variant="default">
                Overview
              </LinkButton>
            )
          }
        >
          {reason}
        </Empty>
      </div>
    </Page>
  )
}
