import { useEffect, useState } from 'react'

/** Whether everything has loaded once. Content that was shown stays while a part of it is fetched again. */
export function useReady(isComplete: boolean): boolean {
  const [isReady, setReady] = useState(isComplete)
  useEffect(() => {
    if (isComplete) setReady(true)
  }, [isComplete])
  return isReady || isComplete
}
