import './mantine'
import '../styles.css'
import './me.css'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { CredentialsContext } from '../api/credentials'
import { setAdvice } from '../api/errors'
import { queryClient } from '../api/queries'
import { theme } from '../theme'
import { NavigationContext } from '../ui/navigation'
import { App } from './App'
import { OWNER_ADVICE } from './advice'
import { Confirmations } from './Confirmations'
import { ownerCredentials } from './requests'
import { ownerNavigation } from './router'

const schemes = localStorageColorSchemeManager({ key: 'mailkeep-color-scheme' })

async function begin(): Promise<void> {
  if (import.meta.env.MODE === 'mock') {
    const { mock } = await import('../api/mock')
    const { setTransport: answerWith } = await import('../api/client')
    answerWith(mock)
  }
  setAdvice(OWNER_ADVICE)
  const root = document.getElementById('root')
  if (!root) throw new Error('The page has no #root element.')
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        colorSchemeManager={schemes}
        defaultColorScheme="auto"
        withCssVariables={false}
        withGlobalClasses={false}
      >
        <QueryClientProvider client={queryClient}>
          <CredentialsContext value={ownerCredentials}>
            <NavigationContext value={ownerNavigation}>
              <App />
            </NavigationContext>
          </CredentialsContext>
          <Confirmations />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}

void begin()
