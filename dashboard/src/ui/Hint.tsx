import { cloneElement, type ComponentType, createContext, type ReactElement, useContext } from 'react'

interface Props {
  label: string
  children: ReactElement<{ title?: string }>
}

/** How hints are shown: on the dashboard by Mantine's tooltip; without a provider by the browser, which loads nothing. */
export const HintContext = createContext<ComponentType<Props>>(({ label, children }) => cloneElement(children, { title: label }))

/** The name of an icon on hover. The icon's button has an `aria-label` as well. */
export function Hint(props: Props) {
  const Shown = useContext(HintContext)
  return <Shown {...props} />
}
