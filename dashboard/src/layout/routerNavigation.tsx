import { useBlocker, useNavigate, useRouter, useRouterState, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { clearCaches } from '../api/queries'
import { PATHS } from '../paths'
import { deleteDraft } from '../screens/send/draft'
import type { Navigation, Params } from '../ui/navigation'

/** The dashboard's router, for the components that other pages share. */
export const navigation: Navigation = {
  signInPath: PATHS.login,
  usePath: () => useRouterState({ select: (state) => state.location.pathname }),
  useSearchParams() {
    const values: Params = useSearch({ strict: false })
    const navigate = useNavigate()
    const change = useCallback(
      (changes: Params) =>
        void navigate({
          to: '.',
          search: (before: Record<string, unknown>) => ({ ...before, ...changes }),
          replace: true,
          resetScroll: false,
        }),
      [navigate],
    )
    return [values, change]
  },
  useBlocker({ shouldBlock, isDirty }) {
    useBlocker({ shouldBlockFn: ({ next }) => shouldBlock(next.pathname), enableBeforeUnload: isDirty })
  },
  useLeave() {
    const navigate = useNavigate()
    return () => {
      clearCaches()
      deleteDraft()
      void navigate({ to: PATHS.login })
    }
  },
  Link({ href, children }) {
    const { history } = useRouter()
    return (
      <a
        href={href}
        onClick={(event) => {
          event.preventDefault()
          history.push(href)
        }}
      >
        {children}
      </a>
    )
  },
}
