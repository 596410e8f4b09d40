// What a page gives the browser: its title and icon, and where the focus goes after a navigation.
import { useLocation } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import type { Tone } from '../look/tone.ts'
import { iconOf, titleOf } from './tab.ts'

interface PageProps {
  /** "Building · shop" */
  title: string
  /** Of what the page shows, so that it can be watched from another tab. */
  mark?: Tone
  /** Contains an h1. */
  children: ReactNode
}

let lastPath: string | null = null
let focused: EventTarget | null = null

addEventListener('focusin', ({ target }) => {
  // From a row of a log or the end of a list the browser goes on by itself.
  focused = (target as Element).closest('[role="log"], [data-more]') ? null : target
})
addEventListener('pointerdown', () => {
  focused = null
})

export function Page({ title, mark, children }: PageProps) {
  const { pathname } = useLocation()
  useEffect(() => {
    document.title = titleOf(title, mark)
    document.querySelector<HTMLLinkElement>('link[rel="icon"]')!.href = iconOf(mark)
  }, [title, mark])
  // Each time, because the h1 may come with the data.
  useEffect(() => {
    const heading = document.querySelector<HTMLElement>('main h1')
    if (!heading) return
    // Not on the first page: the browser begins there by itself.
    const isOther = lastPath !== null && lastPath !== pathname
    // The button that was pressed, or a former heading, has left the page.
    const isLost = document.activeElement === document.body && (focused as Node | null)?.isConnected === false
    if (isOther || isLost) focusOn(heading)
    lastPath = pathname
  })
  return children
}

function focusOn(heading: HTMLElement): void {
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}
