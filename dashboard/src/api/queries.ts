import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query'
import { forget } from './calls'
import { ask, client } from './client'
import { ApiError, isLoggedOut } from './errors'

/** Whether it is likely to be over in a moment. Where the server says why it is not to be had, that stays for a while. */
function isPassing(error: Error): boolean {
  return !(error instanceof ApiError) || error.code === 'NETWORK' || (error.code === 'UNAVAILABLE' && !error.details['reason'])
}

/** What the server refused is not asked again; what did not reach it is, twice. */
function again(failures: number, error: Error): boolean {
  return isPassing(error) && failures < 2
}

/** A screen that could not be filled fills itself when the server is back; else it is asked anew `every` so often. */
export function healing(every: number | false = false) {
  return ({ state }: { state: { error: Error | null } }): number | false => {
    if (!(state.error instanceof ApiError) || !isPassing(state.error)) return every
    return Math.max(2_000, (state.error.retryAfter ?? 5) * 1000)
  }
}

/** Nothing that one person was shown or asked for is left for the next. */
export function clearAll(): void {
  queryClient.clear()
  forget()
}

/** To the login, where the error says that the session is over. */
export function noticeLogout(error: Error): void {
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
  defaultOptions: { queries: { retry: again, refetchInterval: healing(), staleTime: 5_000, refetchOnWindowFocus: true }, mutations: { retry: false } },
})

/** Which program runs, and with what behind it. */
export function version() {
  return queryOptions({ queryKey: ['version'], queryFn: () => ask(client.GET('/version')), staleTime: Infinity })
}

/** The account that is logged in. */
export function me() {
  return queryOptions({ queryKey: ['me'], queryFn: () => ask(client.GET('/auth/me')), staleTime: 60_000 })
}
