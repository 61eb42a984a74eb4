import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSearchParams } from '../search'

interface Tab {
  value: string
  label: string
  content: ReactNode
}

/** The tabs of a detail screen. The query parameter `tab` selects one; the first is the default. */
export function DetailTabs({ tabs }: { tabs: readonly Tab[] }) {
  const [params, change] = useSearchParams()
  const selected = tabs.find((tab) => tab.value === params['tab']) ?? tabs[0]
  return (
    <Tabs
      value={selected?.value ?? null}
      onChange={(value) => change({ tab: value === tabs[0]?.value ? undefined : (value ?? undefined) })}
      keepMounted={false}
    >
      <Tabs.List>
        {tabs.map((tab) => (
          <Tabs.Tab key={tab.value} value={tab.value}>
            {tab.label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map((tab) => (
        <Tabs.Panel key={tab.value} value={tab.value} pt="md">
          <div className="stack">{tab.content}</div>
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
