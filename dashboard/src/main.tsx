import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'
import './styles.css'
import './developers.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './App'

async function begin(): Promise<void> {
  if (import.meta.env.MODE === 'mock') {
    const { mock } = await import('./api/mock')
    const { setTransport: answerWith } = await import('./api/client')
    answerWith(mock)
  }
  const root = document.getElementById('root')
  if (!root) throw new Error('The page has no #root element.')
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}

void begin()
