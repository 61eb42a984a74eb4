import { Button, Select, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useAddress, useTyped } from '../search'
import { DomainSelect } from './Domains'
import { Icon } from './Icon'

/** A row of filters, and a way to be rid of them all. */
export function Filters({ names, children }: { names: readonly string[]; children: ReactNode }) {
  const [address, change] = useAddress()
  const filtered = names.some((name) => address[name])
  return (
    <div className="filters" role="search">
      {children}
      {names.length > 0 && (
        <Button className={filtered ? undefined : 'kept'} disabled={!filtered} variant="subtle" color="gray" onClick={() => change(Object.fromEntries(names.map((name) => [name, undefined])))}>
          Clear
        </Button>
      )}
    </div>
  )
}

/** A text that filters a moment after the last key. */
export function TextFilter({ name, label, hint = label, main = false }: { name: string; label: string; hint?: string; main?: boolean }) {
  const [text, setText] = useTyped(name, 250)
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

/** One of a few. */
export function ChoiceFilter({ name, label, data }: { name: string; label: string; data: readonly { value: string; label: string }[] }) {
  const [address, change] = useAddress()
  return (
    <Select
      className="filter"
      aria-label={label}
      placeholder={label}
      data={data.slice()}
      value={address[name] ?? null}
      onChange={(value) => change({ [name]: value ?? undefined })}
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
    />
  )
}

/** Filters that few need, shown where one of them is in use. */
export function MoreFilters({ names, children }: { names: readonly string[]; children: ReactNode }) {
  const [address] = useAddress()
  const [isOpen, { toggle }] = useDisclosure(names.some((name) => address[name]))
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
  const [address, change] = useAddress()
  return (
    <TextInput className="filter" type="datetime-local" label={label} value={address[name] ?? ''} onChange={(event) => change({ [name]: event.currentTarget.value || undefined })} />
  )
}

/** A domain; `implied`: the one that is listed where none is chosen, of a list that is always of one. */
export function DomainFilter({ name = 'domain', implied }: { name?: string; implied?: string | null }) {
  const [address, change] = useAddress()
  const isFree = implied === undefined
  return (
    <DomainSelect
      className="filter"
      aria-label="Domain"
      placeholder={isFree ? 'All domains' : 'Domain'}
      value={address[name] ?? implied ?? null}
      onChange={(value) => change({ [name]: value ?? undefined })}
      clearable={isFree}
      allowDeselect={isFree}
    />
  )
}
