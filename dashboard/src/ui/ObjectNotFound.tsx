import type { ReactNode } from 'react'
import { ApiError } from '../api/errors'
import { PATHS } from '../paths'
import { CopyButton } from './Copy'
import { EmptyState } from './Empty'
import { LinkButton } from './links'
import { Page } from './Page'

/** Whether the object does not exist or is not visible to this account. */
export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404
}

/** Shown instead of an object that does not exist. */
export function ObjectNotFound({ title, back, error }: { title: string; back: ReactNode; error: ApiError }) {
  return (
    <Page title={title} back={back}>
      <div className="card" role="alert">
        <EmptyState
          icon="search"
          title="Not found"
          action={
            <LinkButton to={PATHS.overview} variant="default">
              Overview
            </LinkButton>
          }
        >
          It does not exist, was deleted, or your account is not allowed to see it.
          <br />
          <span className="small">
            <code>{error.code}</code>
            {error.requestId && (
              <>
                {' · request '}
                <code>{error.requestId}</code> <CopyButton text={error.requestId} what="request ID" />
              </>
            )}
          </span>
        </EmptyState>
      </div>
    </Page>
  )
}
