import { SiblingTabs } from '../../layout/Navigation'

/** Links between the screens of the entry Abuse. */
export function AbuseTabs() {
  return <SiblingTabs screen="abuse" label="Abuse" first="Overview" />
}
