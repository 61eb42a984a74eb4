import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'

export type Search<Name extends string> = { [name in Name]?: string }

/** State of a screen that stands in its address: these names, all texts; others are dropped. */
export function search<Name extends string>(...names: Name[]) {
  return (given: Record<string, unknown>): Search<Name> => {
    const kept: Search<Name> = {}
    for (const name of names) if (typeof given[name] === 'string' && given[name] !== '') kept[name] = given[name]
    return kept
  }
}

/** Of every list. */
export const LIST = ['cursor', 'sort', 'order'] as const

/** What is open over a list, or how it is looked at: the list stays as it is. */
const OVER: readonly string[] = ['new', 'edit', 'shown', 'view', 'paused']

/** Addresses are written as people write them: `?q=word`, not as JSON, and a plus is a plus. */
export function readSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text.replaceAll('+', '%2B')))
}

export function writeSearch(values: Record<string, unknown>): string {
  const pairs = Object.entries(values).filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '')
  const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
  return text && `?${text}`
}

/** The state in the address, and a way to change some of it. A filter that changes begins its list anew. */
export function useAddress(): [Readonly<Record<string, string | undefined>>, (changes: Record<string, string | undefined>) => void] {
  const values: Record<string, string | undefined> = useSearch({ strict: false })
  const navigate = useNavigate()
  const change = useCallback(
    (changes: Record<string, string | undefined>) => {
      const isAnew = Object.keys(changes).some((name) => !OVER.includes(name))
      void navigate({
        to: '.',
        search: (before: Record<string, unknown>) => ({ ...before, ...(isAnew && { cursor: undefined, at: undefined }), ...changes }),
        // The way back through the pages is kept with the page.
        state: (before) => (isAnew ? {} : before),
        replace: true,
        resetScroll: false,
      })
    },
    [navigate],
  )
  return [values, change]
}

/**
 * A text that stands in the address under this name, some milliseconds after the last key, and how to type it. What came
 * into the address from here is not taken back from it: it would undo what was typed since.
 */
export function useTyped(name: string, milliseconds: number): [string, (text: string) => void] {
  const [address, change] = useAddress()
  const stands = address[name] ?? ''
  const [text, setText] = useState(stands)
  const underWay = useRef<string[]>([])
  useEffect(() => {
    const arrived = underWay.current.indexOf(stands)
    if (arrived < 0) setText(stands)
    underWay.current = underWay.current.slice(arrived + 1)
  }, [stands])
  useEffect(() => {
    const asked = text.trim()
    if (asked === stands) {
      underWay.current = []
      return
    }
    const timer = setTimeout(() => {
      underWay.current.push(asked)
      change({ [name]: asked || undefined })
    }, milliseconds)
    return () => clearTimeout(timer)
  }, [text, stands, name, milliseconds, change])
  return [text, setText]
}

/** A local time of an address as the API's; nothing where it is none. */
export function instant(written: string | undefined): string | undefined {
  const date = new Date(written ?? '')
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
