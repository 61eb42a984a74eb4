import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { fieldErrors } from '../api/errors'
import { notify } from './notify'

interface MutationOptions<Input, Answer> {
  request: (input: Input) => Promise<Answer>
  /** First members of the query keys that the request changes. */
  invalidates: readonly string[]
  /** The query key of an object that no longer exists. */
  removes?: readonly unknown[]
  /** The notification after success. */
  message?: string | ((answer: Answer, input: Input) => string)
  onSuccess?: (answer: Answer, input: Input) => void
}

/** A changing request to the API. It notifies the user and refreshes the affected queries. */
export function useApiMutation<Input, Answer>(options: MutationOptions<Input, Answer>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: options.request,
    onSuccess: async (answer, input) => {
      const message = typeof options.message === 'function' ? options.message(answer, input) : options.message
      if (message) notify(message)
      if (options.removes) queries.removeQueries({ queryKey: options.removes })
      options.onSuccess?.(answer, input)
      await Promise.all(options.invalidates.map((name) => queries.invalidateQueries({ queryKey: [name] })))
    },
  })
}

/** The values of a form, each with the error that the server reported for it. */
export function useForm<Values extends object>(initial: Values, error: unknown) {
  const [values, setValues] = useState(initial)
  // References, because a submitted form is left before it is rendered again.
  const current = useRef(initial)
  const saved = useRef(initial)
  // An error is about the submitted value, so it disappears when the field is edited.
  const [edited, setEdited] = useState<{ error: unknown; names: readonly string[] }>({ error: null, names: [] })
  const errors = fieldErrors(error)
  const editedNames = edited.error === error ? edited.names : []
  function set<Name extends keyof Values & string>(name: Name, value: Values[Name]) {
    current.current = { ...current.current, [name]: value }
    setValues(current.current)
    setEdited({ error, names: [...editedNames, name] })
  }
  const errorOf = (name: string) => (editedNames.includes(name) ? undefined : errors[name])
  return {
    values,
    set,
    reset: (next: Values) => {
      current.current = next
      saved.current = next
      setValues(next)
    },
    savedValues: () => saved.current,
    /** Shows `next` as changes of the saved values `base`. */
    rebase: (base: Values, next: Values) => {
      current.current = next
      saved.current = base
      setValues(next)
    },
    /** Whether values differ from the saved ones. */
    isDirty: () => JSON.stringify(current.current) !== JSON.stringify(saved.current),
    markSaved: () => {
      saved.current = current.current
    },
    names: Object.keys(initial),
    errorOf,
    /** Props of a text input. */
    textField: <Name extends keyof Values & string>(name: Name) => ({
      value: String(values[name] ?? ''),
      onChange: (event: { currentTarget: { value: string } }) => set(name, event.currentTarget.value as Values[Name]),
      error: errorOf(name),
      'aria-invalid': errorOf(name) ? (true as const) : undefined,
    }),
    /** Props of a switch or a checkbox. */
    checkbox: <Name extends keyof Values & string>(name: Name) => ({
      checked: Boolean(values[name]),
      onChange: (event: { currentTarget: { checked: boolean } }) => set(name, event.currentTarget.checked as Values[Name]),
      error: errorOf(name),
    }),
    /** Props of an input that reports its value directly: select, number, tags. */
    field: <Name extends keyof Values & string>(name: Name) => ({
      value: values[name],
      onChange: (value: Values[Name] | null) => set(name, value as Values[Name]),
      error: errorOf(name),
    }),
  }
}
