import { createRootRoute, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router'
import { isSignedOut } from './api/errors'
import { accountQuery, queryClient, versionQuery } from './api/queries'
import { PATHS } from './paths'
import { stringParams } from './search'
import { ScreenError } from './layout/ScreenError'
import { Layout } from './layout/Layout'
import { NotFound } from './layout/NotFound'

export const root = createRootRoute({ component: Outlet, errorComponent: ScreenError, notFoundComponent: NotFound })

export const login = createRoute({
  getParentRoute: () => root,
  path: PATHS.login,
  validateSearch: stringParams('next', 'error', 'reason'),
  component: lazyRouteComponent(() => import('./screens/login/Login'), 'Login'),
})

export const invitation = createRoute({
  getParentRoute: () => root,
  path: PATHS.invitation,
  component: lazyRouteComponent(() => import('./screens/invitation/Invitation'), 'Invitation'),
})

/** For an account that must change its password before anything else. */
export const password = createRoute({
  getParentRoute: () => root,
  path: PATHS.password,
  validateSearch: stringParams('next'),
  component: lazyRouteComponent(() => import('./screens/password/ChangePassword'), 'ChangePassword'),
  errorComponent: ScreenError,
  beforeLoad: async () => {
    try {
      const account = await queryClient.ensureQueryData(accountQuery())
      if (!account.must_change_password) throw redirect({ to: PATHS.account })
    } catch (error) {
      if (!isSignedOut(error)) throw error
      throw redirect({ to: PATHS.login, search: {} })
    }
  },
})

/** All screens that need a session. */
export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: () => <Layout />,
  errorComponent: ScreenError,
  beforeLoad: async ({ location }) => {
    try {
      // Loaded in parallel, because screens depend on the profile. They also work without it.
      const version = queryClient.ensureQueryData(versionQuery()).catch(() => null)
      const account = await queryClient.ensureQueryData(accountQuery())
      await version
      if (account.must_change_password) throw redirect({ to: PATHS.password, search: location.href === '/' ? {} : { next: location.href } })
      if (account.second_factor_required && location.pathname !== PATHS.account) throw redirect({ to: PATHS.account })
    } catch (error) {
      if (!isSignedOut(error)) throw error
      throw redirect({ to: PATHS.login, search: location.href === '/' ? {} : { next: location.href } })
    }
  },
})
