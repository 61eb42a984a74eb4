import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldFaults } from '../api/errors'
import { toast } from './Toasts'

/** A change by the API: what to ask anew after it, and what to say. */
export function useChange<Given, Answer>(options: {
  change: (given: Given) => Promise<Answer>
  /** First members of the keys of what it changes. */
  refreshes: readonly string[]
  /** The key of what is gone after it, not to be asked for again. */
  forgets?: readonly unknown[]
  told?: string | ((answer: Answer, given: Given) => string)
  then?: (answer: Answer, given: Given) => void
}) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: options.change,
    onSuccess: async (answer, given) => {
      const told = typeof options.told === 'function' ? options.told(answer, given) : options.told
      if (told) toast(told)
      if (options.forgets) queries.removeQueries({ queryKey: options.forgets })
      options.then?.(answer, given)
      await Promise.all(options.refreshes.map((name) => queries.invalidateQueries({ queryKey: [name] })))
    },
  })
}

/** The values of a form, each with the fault that the server found in it. */
export function useFields<Values extends object>(initial: Values, error: unknown) {
  const [values, setValues] = useState(initial)
  // A fault is about what was sent: it goes when its field is changed.
  const [settled, setSettled] = useState<{ error: unknown; names: readonly string[] }>({ error: null, names: [] })
  const faults = fieldFaults(error)
  const mended = settled.error === error ? settled.names : []
  function set<Name extends keyof Values & string>(name: Name, value: Values[Name]) {
    setValues((before) => ({ ...before, [name]: value }))
    setSettled({ error, names: [...mended, name] })
  }
  const faultOf = (name: string) => (mended.includes(name) ? undefined : faults[name])
  return {
    values,
    set,
    setAll: setValues,
    names: Object.keys(initial),
    faultOf,
    /** For an input of text. */
    text: <Name extends keyof Values & string>(name: Name) => ({
      value: String(values[name] ?? ''),
      onChange: (event: { currentTarget: { value: string } }) => set(name, event.currentTarget.value as Values[Name]),
      error: faultOf(name),
      'aria-invalid': faultOf(name) ? (true as const) : undefined,
    }),
    /** For a switch or a box. */
    checked: <Name extends keyof Values & string>(name: Name) => ({
      checked: Boolean(values[name]),
      onChange: (event: { currentTarget: { checked: boolean } }) => set(name, event.currentTarget.checked as Values[Name]),
      error: faultOf(name),
    }),
    /** For what hands over a value: choices, numbers, tags. */
    value: <Name extends keyof Values & string>(name: Name) => ({
      value: values[name],
      onChange: (value: Values[Name] | null) => set(name, value as Values[Name]),
      error: faultOf(name),
    }),
  }
}
