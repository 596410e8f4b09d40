// Whether a log stays at its end. Only the reader's own scrolling ends that, and scrolling back resumes it.
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import type { RowWindow } from './row-window.ts'

const upKeys = ['ArrowUp', 'PageUp', 'Home']
/** A scroll so soon after a gesture is the reader's. */
const gestureMs = 1_000
const nearEndPx = 4

interface Options {
  box: RefObject<HTMLDivElement | null>
  rows: RowWindow
  isFollowing: boolean
  onChange: (isFollowing: boolean) => void
  onReachStart: () => void
}

export function useFollowing({ box, rows, isFollowing, onChange, onReachStart }: Options): void {
  const reader = useRef({ isHolding: false, gestureAt: Number.NEGATIVE_INFINITY, lastTop: 0 })
  const handlers = useRef({ isFollowing, onChange, onReachStart })
  handlers.current = { isFollowing, onChange, onReachStart }

  useLayoutEffect(() => {
    // Text under a pressed pointer would move away from the reader who selects it.
    if (isFollowing && !reader.current.isHolding && rows.options.count > 0) rows.scrollToEnd()
  })

  useEffect(() => {
    const element = box.current!
    const { current } = reader
    const ending = new AbortController()
    const on = <Name extends keyof HTMLElementEventMap>(
      name: Name,
      listener: (event: HTMLElementEventMap[Name]) => void,
    ) => element.addEventListener(name, listener, { signal: ending.signal, passive: true })
    const gesture = () => {
      current.gestureAt = performance.now()
    }
    const leave = () => {
      const canScroll = element.scrollHeight > element.clientHeight
      if (canScroll && handlers.current.isFollowing) handlers.current.onChange(false)
    }
    on('wheel', ({ deltaY }) => {
      gesture()
      if (deltaY < 0) leave()
    })
    on('keydown', ({ key, shiftKey }) => {
      gesture()
      if (upKeys.includes(key) || (key === ' ' && shiftKey)) leave()
    })
    on('touchmove', gesture)
    on('pointerdown', () => {
      current.isHolding = true
    })
    for (const name of ['pointerup', 'pointercancel'] as const) {
      addEventListener(
        name,
        () => {
          current.isHolding = false
        },
        { signal: ending.signal },
      )
    }
    on('scroll', () => {
      const { scrollTop: top, scrollHeight, clientHeight } = element
      const isUp = top < current.lastTop
      current.lastTop = top
      if (top < clientHeight) handlers.current.onReachStart()
      if (!current.isHolding && performance.now() - current.gestureAt > gestureMs) return
      gesture()
      const isAtEnd = scrollHeight - top - clientHeight < nearEndPx
      if (isUp && !isAtEnd) leave()
      if (!isUp && isAtEnd && !handlers.current.isFollowing) handlers.current.onChange(true)
    })
    return () => ending.abort()
  }, [box])
}
