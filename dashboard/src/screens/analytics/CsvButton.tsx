import { Button } from '@mantine/core'
import { Icon } from '../../ui/Icon'
import { csvHref, type Query } from './figures'

/** Downloads a table. */
export function CsvButton({ name, query }: { name: string; query: Query }) {
  return (
    <Button
      component="a"
      href={csvHref(name, query)}
      download
      variant="default"
      size="xs"
      leftSection={<Icon name="down_load" size={14} />}
    >
      Export CSV<span className="visually-hidden"> of {name.replace('-', ' ')}</span>
    </Button>
  )
}
