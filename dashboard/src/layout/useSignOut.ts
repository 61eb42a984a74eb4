import { useNavigate } from '@tanstack/react-router'
import { client, fetchData } from '../api/client'
import { clearCaches } from '../api/queries'
import { PATHS } from '../paths'
import { deleteDraft } from '../screens/send/draft'
import { useApiMutation } from '../ui/useForm'

/** Ends the session and opens the sign-in screen. */
export function useSignOut() {
  const navigate = useNavigate()
  return useApiMutation({
    request: () => fetchData(client.POST('/auth/logout')),
    invalidates: [],
    onSuccess: () => {
      clearCaches()
      deleteDraft()
      void navigate({ to: PATHS.login })
    },
  })
}
