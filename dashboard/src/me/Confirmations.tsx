import { useNotifications } from '@mantine/notifications'
import { lazy, Suspense, useEffect, useState } from 'react'

const Notifications = lazy(() => import('./Notifications'))

/** Confirmations of actions. Their code is loaded with the first one. */
export function Confirmations() {
  const { notifications } = useNotifications()
  const [isUsed, setUsed] = useState(false)
  useEffect(() => {
    if (notifications.length > 0) setUsed(true)
  }, [notifications])
  return <Suspense>{isUsed && <Notifications />}</Suspense>
}
