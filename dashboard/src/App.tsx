import { Notifications } from '@mantine/notifications'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { queryClient } from './api/queries'
import { router } from './routes'
import { theme } from './theme'

const schemes = localStorageColorSchemeManager({ key: 'mailkeep-color-scheme' })

export function App() {
  return (
    <MantineProvider
      theme={theme}
      colorSchemeManager={schemes}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Notifications aria-live="polite" position="bottom-right" limit={10} containerWidth={360} />
      </QueryClientProvider>
    </MantineProvider>
  )
}
