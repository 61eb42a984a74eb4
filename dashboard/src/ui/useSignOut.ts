import { useCredentials } from '../api/credentials'
import { useNavigation } from './navigation'
import { useApiMutation } from './useForm'

/** Ends the session and opens the sign-in screen. */
export function useSignOut() {
  const credentials = useCredentials()
  const leave = useNavigation().useLeave()
  return useApiMutation({ request: credentials.signOut, invalidates: [], onSuccess: leave })
}
