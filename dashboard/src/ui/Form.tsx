import { type FormEvent, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { ErrorBar } from './ErrorBar'

interface Props {
  onSubmit: () => void
  /** The buttons, and what stands beside them. */
  actions: ReactNode
  /** What the last submit came to. */
  error?: unknown
  /** Fields that show their own errors. */
  besides?: readonly string[]
  children: ReactNode
}

/**
 * A form on which nothing moves: each field keeps a line for its help or its error, and once it needed more, that;
 * in a dialog the height is the one it opened with, and the buttons stay at the end of the dialog while the fields
 * scroll; what went wrong is shown beside the form (`ErrorBar`).
 */
export function Form({ onSubmit, actions, error, besides = [], children }: Props) {
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    if (form.current) keepFields(form.current)
  })
  useDialogHeight(form)
  function submit(event: FormEvent) {
    event.preventDefault()
    event.stopPropagation()
    onSubmit()
  }
  return (
    <form ref={form} onSubmit={submit} className="form" noValidate>
      <div className="form-fields">{children}</div>
      <div className="form-actions">{actions}</div>
      <ErrorBar error={error} besides={besides} />
    </form>
  )
}

const FIELD = '.mantine-InputWrapper-root'

/** A field never becomes less high than it was: its error is gone when it is typed in, its place is not. */
function keepFields(form: HTMLFormElement): void {
  const fields = [...form.querySelectorAll<HTMLElement>(FIELD)]
  const heights = fields.map((field) => field.offsetHeight)
  fields.forEach((field, index) => {
    field.style.minHeight = `${heights[index]}px`
  })
}

/** The dialog around the form keeps the height that it opened with; anew where the window has another width. */
function useDialogHeight(form: { current: HTMLFormElement | null }): void {
  useEffect(() => {
    const body = form.current?.closest<HTMLElement>('.mantine-Modal-body')
    const keep = () => {
      form.current?.querySelectorAll<HTMLElement>(FIELD).forEach((field) => field.style.removeProperty('min-height'))
      if (!body) return
      body.style.removeProperty('height')
      body.style.height = `${body.offsetHeight}px`
    }
    keep()
    let width = window.innerWidth
    const resized = () => {
      if (window.innerWidth === width) return
      width = window.innerWidth
      keep()
    }
    window.addEventListener('resize', resized)
    return () => {
      window.removeEventListener('resize', resized)
      body?.style.removeProperty('height')
    }
  }, [form])
}
