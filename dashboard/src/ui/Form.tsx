import { Button, Group, Modal } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { ErrorBar } from './ErrorBar'
import { useNavigation } from './navigation'

interface Props {
  onSubmit: () => void
  /** The buttons. */
  actions: ReactNode
  /** The error of the last submit. */
  error?: unknown
  /** Fields that show their own errors. */
  formFields?: readonly string[]
  /** Whether leaving the form would lose input: the user is asked first. */
  isDirty?: () => boolean
  children: ReactNode
}

/**
 * A form whose controls never move: each field reserves a line for its description or error, a dialog keeps its initial
 * height, its buttons stay at the bottom while the fields scroll, and errors appear beside the form (`ErrorBar`).
 */
export function Form({ onSubmit, actions, error, formFields: besides = [], isDirty, children }: Props) {
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    if (form.current) holdFieldHeights(form.current)
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
      {isDirty && <DiscardDialog isDirty={isDirty} />}
    </form>
  )
}

/** The buttons of a form that can be cancelled. `submit`: what the second one does. */
export function FormButtons({ submit, isPending, onCancel }: { submit: string; isPending: boolean; onCancel: () => void }) {
  return (
    <>
      <Button variant="default" onClick={onCancel}>
        Cancel
      </Button>
      <Button type="submit" loading={isPending}>
        {submit}
      </Button>
    </>
  )
}

/** Asks before a navigation that would lose input. `path`: a screen that keeps the input while its filters and tabs change. */
export function DiscardDialog({ isDirty, path }: { isDirty: () => boolean; path?: string }) {
  const [isOpen, setOpen] = useState(false)
  const [isNested, setNested] = useState(false)
  // Set while the dialog is open: continues or cancels the navigation.
  const answer = useRef<((stay: boolean) => void) | null>(null)
  const { signInPath, useBlocker } = useNavigation()
  useBlocker({
    shouldBlock: (next) => {
      if (!isDirty() || next === signInPath || next === path) return false
      // Escape closes all open dialogs: it is for the uppermost one. This one may still be fading out.
      const dialogs = document.querySelectorAll('[role=dialog]:not(.discard-dialog)').length
      if (answer.current) {
        answer.current(true)
        return true
      }
      if (dialogs > 1) return true
      setNested(dialogs > 0)
      return new Promise((resolve) => {
        setOpen(true)
        answer.current = (stay) => {
          answer.current = null
          setOpen(false)
          resolve(stay)
        }
      })
    },
    isDirty,
  })
  const stay = () => answer.current?.(true)
  return (
    <Modal opened={isOpen} onClose={stay} title="Discard changes?" closeOnEscape={!isNested} classNames={{ content: 'discard-dialog' }}>
      <div className="stack">
        <p>Your changes are not saved.</p>
        <Group justify="flex-end">
          <Button variant="default" onClick={stay} data-autofocus>
            Keep editing
          </Button>
          <Button color="red" onClick={() => answer.current?.(false)}>
            Discard
          </Button>
        </Group>
      </div>
    </Modal>
  )
}

const FIELD = '.mantine-InputWrapper-root'

/** Keeps each field at least as high as it was: an error disappears while typing, its space does not. */
function holdFieldHeights(form: HTMLFormElement): void {
  const fields = [...form.querySelectorAll<HTMLElement>(FIELD)]
  const heights = fields.map((field) => field.offsetHeight)
  fields.forEach((field, index) => {
    field.style.minHeight = `${heights[index]}px`
  })
}

/** Keeps the dialog at its initial height until the window width changes. */
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
