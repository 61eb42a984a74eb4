import type { ReactNode } from 'react'
import { ApiError } from '../api/errors'
import { PATHS } from '../paths'
import { Copy } from './Copy'
import { Empty } from './Empty'
import { LinkButton } from './links'
import { Page } from './Page'

/** Whether there is no object with the ID in the address, or none that this account may see. */
export function isMissing(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404
}

/** The screen of an object that does not exist. */
export function Missing({ title, back, error }: { title: string; back: ReactNode; error: ApiError }) {
  return (
    <Page title={title} back={back}>
      <div className="card" role="alert">
        <Empty
          icon="search"
          title="Not found"
          action={
            <LinkButton to={PATHS.overview} variant="default">
              Overview
            </LinkButton>
          }
        >
          Nothing with this ID exists, or your account may not see it. It may have been deleted.
          <br />
          <span className="small">
            <code>{error.code}</code>
            {error.requestId && (
              <>
                {' · request '}
                <code>{error.requestId}</code> <Copy text={error.requestId} what="request id" />
              </>
            )}
          </span>
        </Empty>
      </div>
    </Page>
  )
}
