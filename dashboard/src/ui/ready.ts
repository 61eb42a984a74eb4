import { useEffect, useState } from 'react'

/**
 * Whether everything was there at some time: what was shown once stays, also while a part of it is asked for again. A
 * part that failed is asked for again when it is shown.
 */
export function useReady(isComplete: boolean): boolean {
  const [isReady, setReady] = useState(isComplete)
  useEffect(() => {
    if (isComplete) setReady(true)
  }, [isComplete])
  return isReady || isComplete
}
