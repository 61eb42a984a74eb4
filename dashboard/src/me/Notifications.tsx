import { Notifications as All } from '@mantine/notifications'

export default function Notifications() {
  return <All aria-live="polite" position="bottom-right" limit={5} containerWidth={360} />
}
