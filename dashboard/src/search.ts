import { useEffect, useRef, useState } from 'react'
import { type Params, useNavigation } from './ui/navigation'

export type StringParams<Name extends string> = { [name in Name]?: string }

/** Validates the query parameters of a screen: keeps non-empty strings with these names and drops others. */
export function stringParams<Name extends string>(...names: Name[]) {
  return (params: Record<string, unknown>): StringParams<Name> => {
    const result: StringParams<Name> = {}
    for (const name of names) if (typeof params[name] === 'string' && params[name] !== '') result[name] = params[name]
    return result
  }
}

/** Query parameters of every list. */
export const LIST_PARAMS = ['sort', 'order'] as const

/** Reads plain values (`?q=word`, not JSON). A plus sign stands for itself. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text.replaceAll('+', '%2B')))
}

export function formatSearch(values: Record<string, unknown>): string {
  const pairs = Object.entries(values).filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '')
  const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
  return text && `?${text}`
}

/** The query parameters, and a function that changes some of them. */
export function useSearchParams(): [Params, (changes: Params) => void] {
  return useNavigation().useSearchParams()
}

/**
 * A text that is written to a query parameter some milliseconds after the last keystroke, and its setter. A value that
 * this hook wrote is not read back, because the user may have typed since.
 */
export function useTextParam(name: string, milliseconds: number): [string, (text: string) => void] {
  const [params, change] = useSearchParams()
  const current = params[name] ?? ''
  const [text, setText] = useState(current)
  const pending = useRef<string[]>([])
  useEffect(() => {
    const index = pending.current.indexOf(current)
    if (index < 0) setText(current)
    pending.current = pending.current.slice(index + 1)
  }, [current])
  useEffect(() => {
    const next = text.trim()
    if (next === current) {
      pending.current = []
      return
    }
    const timer = setTimeout(() => {
      pending.current.push(next)
      change({ [name]: next || undefined })
    }, milliseconds)
    return () => clearTimeout(timer)
  }, [text, current, name, milliseconds, change])
  return [text, setText]
}

/** A local time (`datetime-local`) as UTC for the API; undefined if it is not a time. */
export function toUtc(local: string | undefined): string | undefined {
  const date = new Date(local ?? '')
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
