// Keys that act without a modifier. Each page adds its own; they can be switched off, because a voice or a
// stray hand can press them.
import { useEffect, useRef, useSyncExternalStore } from 'react'

export interface Shortcut {
  /** `d`, or two keys after each other: `g s`. */
  keys: string
  label: string
  run(): void
}

const storageKey = 'berth.shortcuts'
const secondKeyWithinMs = 1_500
const shown = new Set<Shortcut>()
const listeners = new Set<() => void>()
let isOn = localStorage.getItem(storageKey) !== 'off'
let first = { key: '', atMs: 0 }

/** For as long as the component is shown. */
export function useShortcut(keys: string, label: string, run: () => void): void {
  const latest = useRef(run)
  useEffect(() => {
    latest.current = run
  })
  useEffect(() => {
    const shortcut = { keys, label, run: () => latest.current() }
    shown.add(shortcut)
    return () => void shown.delete(shortcut)
  }, [keys, label])
}

/** Those of the present page. */
export function currentShortcuts(): Shortcut[] {
  return [...shown]
}

export function useShortcutsSwitch(): [isOn: boolean, set: (isOn: boolean) => void] {
  const value = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isOn,
  )
  return [value, turn]
}

function turn(next: boolean): void {
  isOn = next
  localStorage.setItem(storageKey, next ? 'on' : 'off')
  for (const listener of listeners) listener()
}

/** For as long as the page is open. */
export function listenForShortcuts(): void {
  addEventListener('keydown', (event) => {
    if (!isOn || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (isTyping(event.target) || document.querySelector('dialog[open], :popover-open')) return
    const isSecond = event.timeStamp - first.atMs < secondKeyWithinMs
    const keys = isSecond ? `${first.key} ${event.key}` : event.key
    first = { key: event.key, atMs: event.timeStamp }
    // Of two with the same keys the newer one counts: a page is shown after the frame.
    const found = currentShortcuts().findLast((one) => one.keys === keys || one.keys === event.key)
    if (!found) return
    event.preventDefault()
    first = { key: '', atMs: 0 }
    found.run()
  })
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
}
