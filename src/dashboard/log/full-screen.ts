// Lets one element fill the screen: nothing else can be reached while it does.
import { type RefObject, useEffect, useState } from 'react'

export function useFullScreen(element: RefObject<HTMLElement | null>): [boolean, (isLarge: boolean) => void] {
  const [isLarge, setLarge] = useState(false)
  useEffect(() => {
    if (!isLarge) return
    const others = othersThan(element.current!)
    for (const other of others) other.inert = true
    document.documentElement.style.overflow = 'hidden'
    return () => {
      for (const other of others) other.inert = false
      document.documentElement.style.overflow = ''
    }
  }, [isLarge, element])
  return [isLarge, setLarge]
}

/** What is next to the element, and next to each of its parents. */
function othersThan(element: Element): HTMLElement[] {
  const { parentElement: parent } = element
  if (!parent) return []
  const siblings = [...parent.children].filter((child) => child instanceof HTMLElement)
  return [...siblings.filter((child) => child !== element && !child.inert), ...othersThan(parent)]
}
