// How wide an element is, for pictures whose letters must not be stretched with them.

import { useEffect, useState } from 'preact/hooks'

/** The width of the element; a usual one before it is known. */
export function useWidth(element: { readonly current: Element | null }): number {
  const [width, setWidth] = useState(1000)
  useEffect(() => {
    const measured = element.current
    if (measured === null) return
    const observer = new ResizeObserver(() => measured.clientWidth > 0 && setWidth(measured.clientWidth))
    observer.observe(measured)
    return () => observer.disconnect()
  }, [])
  return width
}
