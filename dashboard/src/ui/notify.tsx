import { notifications } from '@mantine/notifications'
import { Icon } from './Icon'

/** Confirms a completed action. Errors are shown where they occur and stay until they are closed. */
export function notify(message: string): void {
  notifications.show({
    message,
    icon: <Icon name="check" />,
    color: 'teal',
    role: 'status',
    autoClose: 6000,
    closeButtonProps: { 'aria-label': 'Close' },
  })
}
