import { cloneElement, createContext, type ReactElement, useContext } from 'react'

interface Props {
  label: string
  children: ReactElement<{ title?: string }>
}

/** Shows hints: on the dashboard by Mantine's tooltip; without a provider by the browser, which loads nothing. */
export const HintContext = createContext<(props: Props) => ReactElement>(({ label, children }) => cloneElement(children, { title: label }))

/** The name of an icon on hover. The icon's button has an `aria-label` as well. */
export function Hint(props: Props) {
  return useContext(HintContext)(props)
}
