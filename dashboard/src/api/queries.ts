import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query'
import { ask, client } from './client'
import { ApiError, isLoggedOut } from './errors'

/** What the server refused is not asked again; what did not reach it is, twice. */
function again(failures: number, error: Error): boolean {
  const passing = !(error instanceof ApiError) || error.code === 'NETWORK' || error.code === 'UNAVAILABLE'
  return passing && failures < 2
}

function noticeLogout(error: Error): void {
  if (!isLoggedOut(error)) return
  // The screens ask `me` before anything else: without a session it leads to the login.
  if (queryClient.getQueryData(me().queryKey)) {
    queryClient.removeQueries({ queryKey: me().queryKey })
    window.dispatchEvent(new Event('mailkeep:logged-out'))
  }
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeLogout }),
  mutationCache: new MutationCache({ onError: noticeLogout }),
  defaultOptions: { queries: { retry: again, staleTime: 5_000, refetchOnWindowFocus: true }, mutations: { retry: false } },
})

/** The account that is logged in. */
export function me() {
  return queryOptions({ queryKey: ['me'], queryFn: () => ask(client.GET('/auth/me')), staleTime: 60_000 })
}
