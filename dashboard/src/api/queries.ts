import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query'
import { clearCalls } from './recordedCalls'
import { fetchData, client } from './client'
import { dismissAllOperations } from './operations'
import { ApiError, isSignedOut } from './errors'

/** Whether a retry may succeed soon. UNAVAILABLE with a reason lasts longer. */
function isTransient(error: Error): boolean {
  return !(error instanceof ApiError) || error.code === 'NETWORK' || (error.code === 'UNAVAILABLE' && !error.details['reason'])
}

/** Retries transient errors twice and refused requests never. */
function shouldRetry(failures: number, error: Error): boolean {
  return isTransient(error) && failures < 2
}

/** The refetch interval: `every`, or after a transient error the time that the server asked to wait. */
export function refetchUntilAvailable(every: number | false = false) {
  return ({ state }: { state: { error: Error | null } }): number | false => {
    if (!(state.error instanceof ApiError) || !isTransient(state.error)) return every
    return Math.max(2_000, (state.error.retryAfter ?? 5) * 1000)
  }
}

/** Removes all cached data of the account. */
export function clearCaches(): void {
  queryClient.clear()
  dismissAllOperations()
  clearCalls()
}

/** Leaves the screen if the error says that the session has ended, or that the password must be changed first. */
export function leaveIfSignedOut(error: Error): void {
  if (error instanceof ApiError && error.details['reason'] === 'password_change_required') {
    queryClient.removeQueries({ queryKey: accountQuery().queryKey })
    window.dispatchEvent(new Event('mailkeep:password-change'))
    return
  }
  if (!isSignedOut(error)) return
  // The layout loads the account first, which opens the sign-in screen without a session.
  if (queryClient.getQueryData(accountQuery().queryKey)) {
    queryClient.removeQueries({ queryKey: accountQuery().queryKey })
    window.dispatchEvent(new Event('mailkeep:logged-out'))
  }
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: leaveIfSignedOut }),
  mutationCache: new MutationCache({ onError: leaveIfSignedOut }),
  defaultOptions: {
    queries: { retry: shouldRetry, refetchInterval: refetchUntilAvailable(), staleTime: 5_000, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
})

/** The version and the profile of the server. */
export function versionQuery() {
  return queryOptions({ queryKey: ['version'], queryFn: () => fetchData(client.GET('/version')), staleTime: Infinity })
}

/** The signed-in account. */
export function accountQuery() {
  return queryOptions({ queryKey: ['me'], queryFn: () => fetchData(client.GET('/auth/me')), staleTime: 60_000 })
}

/** The configured identity providers. */
export function providersQuery() {
  return queryOptions({
    queryKey: ['providers'],
    queryFn: () => fetchData(client.GET('/auth/oidc/providers')),
    retry: false,
    staleTime: Infinity,
  })
}
