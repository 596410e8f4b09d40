// The keys of a log: `/` finds, `n` and `N` go through the matches, Ctrl A selects all lines, and copying
// takes them without their numbers.
import { type ClipboardEvent, type KeyboardEvent, type RefObject, useEffect, useRef } from 'react'
import type { FindState } from './find-state.ts'
import type { Log } from './log.ts'
import type { SelectedLines } from './selected-lines.ts'
import { textOf } from './selection.ts'

interface Options {
  log: Log
  field: RefObject<HTMLInputElement | null>
  find: FindState
  go: (step: 1 | -1) => void
  selected: SelectedLines
  leave: () => void
}

export function useLogKeys({ log, field, find, go, selected, leave }: Options) {
  useShortcuts({
    '/': () => field.current?.focus(),
    n: () => go(1),
    N: () => go(-1),
  })
  return {
    onKeyDown(event: KeyboardEvent): void {
      const isField = isTyping(event.target)
      if (event.key === 'a' && (event.ctrlKey || event.metaKey) && !isField) {
        event.preventDefault()
        document.getSelection()?.empty()
        selected.addAll()
      }
      if (event.key !== 'Escape') return
      if (isField && find.query !== '') find.setQuery('')
      else if (selected.lines) selected.clear()
      else leave()
    },
    onCopy(event: ClipboardEvent): void {
      const text = isTyping(event.target) ? null : copiedText(log, selected)
      if (text === null) return
      event.preventDefault()
      event.clipboardData.setData('text/plain', text)
    },
  }
}

function copiedText(log: Log, { lines }: SelectedLines): string | null {
  const own = document.getSelection()
  if (own && !own.isCollapsed) return selectedText(own.getRangeAt(0))
  return lines && textOf(log.lines.all(), lines)
}

/** What the browser has selected, without numbers, times, and the ends of wrapped rows. */
function selectedText(range: Range): string {
  const texts = [...range.cloneContents().querySelectorAll('[data-text]')].map((text) => text.textContent)
  return texts.length > 0 ? texts.join('\n') : range.toString()
}

/** Anywhere on the page, except in a field. */
function useShortcuts(shortcuts: Record<string, () => void>): void {
  const current = useRef(shortcuts)
  current.current = shortcuts
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => {
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented
      const action = current.current[event.key]
      if (!isPlain || !action || isTyping(event.target)) return
      event.preventDefault()
      action()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
}
