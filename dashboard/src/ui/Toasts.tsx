import { useSyncExternalStore } from 'react'
import { Icon } from './Icon'

interface Toast {
  id: number
  text: string
}

let toasts: readonly Toast[] = []
let count = 0
const listeners = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  listeners.forEach((listener) => listener())
}

/** Say that something was done. What went wrong is told where it happened, and stays. */
export function toast(text: string): void {
  const id = ++count
  set([...toasts.slice(-2), { id, text }])
  setTimeout(() => set(toasts.filter((each) => each.id !== id)), 6000)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((each) => (
        <div className="toast" key={each.id}>
          <Icon name="check" /> <span>{each.text}</span>
        </div>
      ))}
    </div>
  )
}
