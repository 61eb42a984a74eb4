import { Button, Select, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useSearchParams, useTextParam } from '../search'
import { Icon } from './Icon'

/** A row of filters with a button that clears them. */
export function Filters({ names, children }: { names: readonly string[]; children: ReactNode }) {
  const [params, change] = useSearchParams()
  const isFiltered = names.some((name) => params[name])
  return (
    <div className="filters" role="search">
      {children}
      {names.length > 0 && (
        <Button
          className={isFiltered ? undefined : 'invisible'}
          disabled={!isFiltered}
          variant="subtle"
          color="gray"
          onClick={() => change(Object.fromEntries(names.map((name) => [name, undefined])))}
        >
          Clear
        </Button>
      )}
    </div>
  )
}

/** A text that filters shortly after the last keystroke. */
export function TextFilter({ name, label, hint = label, main = false }: { name: string; label: string; hint?: string; main?: boolean }) {
  const [text, setText] = useTextParam(name, 250)
  return (
    <TextInput
      className={main ? 'filter-main' : 'filter'}
      aria-label={label}
      placeholder={hint}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      type="search"
      {...(main && { leftSection: <Icon name="search" size={15} />, 'data-main-search': true })}
    />
  )
}

interface Choice {
  value: string
  label: string
  description?: string
}

/** A choice of one value. `excludes`: the filters that can't be combined with it. */
export function ChoiceFilter(props: { name: string; label: string; data: readonly Choice[]; excludes?: readonly string[] }) {
  const { name, label, data, excludes = [] } = props
  const [params, change] = useSearchParams()
  const descriptions = new Map(data.map((each) => [each.value, each.description]))
  return (
    <Select
      className="filter"
      aria-label={label}
      placeholder={label}
      data={data.map((each) => ({ value: each.value, label: each.label }))}
      {...(data.some((each) => each.description) && {
        comboboxProps: { width: 320, position: 'bottom-start' },
        renderOption: ({ option }) => (
          <div>
            {option.label}
            <div className="muted small">{descriptions.get(option.value)}</div>
          </div>
        ),
      })}
      value={params[name] ?? null}
      onChange={(value) => change({ ...Object.fromEntries(excludes.map((each) => [each, undefined])), [name]: value ?? undefined })}
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
    />
  )
}

/** Less common filters, open if one of them is set. */
export function MoreFilters({ names, children }: { names: readonly string[]; children: ReactNode }) {
  const [params] = useSearchParams()
  const [isOpen, { toggle }] = useDisclosure(names.some((name) => params[name]))
  return (
    <>
      <Button variant="default" onClick={toggle} aria-expanded={isOpen} aria-controls="more-filters">
        {isOpen ? 'Fewer filters' : 'More filters'}
      </Button>
      {isOpen && (
        <div id="more-filters" className="filters-more">
          {children}
        </div>
      )}
    </>
  )
}

/** A local time. */
export function TimeFilter({ name, label }: { name: string; label: string }) {
  const [params, change] = useSearchParams()
  return (
    <TextInput
      className="filter"
      type="datetime-local"
      label={label}
      value={params[name] ?? ''}
      onChange={(event) => change({ [name]: event.currentTarget.value || undefined })}
    />
  )
}
