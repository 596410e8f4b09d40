// The keys of a log: `/` finds, `n` and `N` go through the matches, Ctrl A selects all lines, and copying
// takes them without their numbers.
import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react'
import { isTyping, useShortcut } from '../shell/shortcuts.ts'
import type { FindState } from './find-state.ts'
import type { Log } from './log.ts'
import type { SelectedLines } from './selected-lines.ts'
import { textOf } from './selection.ts'

interface Options {
  log: Log
  box: RefObject<HTMLElement | null>
  field: RefObject<HTMLInputElement | null>
  find: FindState
  go: (step: 1 | -1) => void
  selected: SelectedLines
  leave: () => void
}

export function useLogKeys({ log, box, field, find, go, selected, leave }: Options) {
  useShortcut('/', 'Find in log', () => field.current?.focus())
  useShortcut('n', 'Next match', () => go(1))
  useShortcut('N', 'Previous match', () => go(-1))
  useCopying(box, () => selected.lines && textOf(log.lines.all(), selected.lines))
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
  }
}

/** Wherever the focus is. Text that is selected on the page comes before selected lines. */
function useCopying(box: RefObject<HTMLElement | null>, textOfLines: () => string | null): void {
  const latest = useRef(textOfLines)
  useEffect(() => {
    latest.current = textOfLines
  })
  useEffect(() => {
    const copy = (event: ClipboardEvent) => {
      const own = document.getSelection()
      const isOwn = own !== null && !own.isCollapsed
      if (isTyping(event.target) || (isOwn && !own.containsNode(box.current!, true))) return
      const text = isOwn ? selectedText(own.getRangeAt(0)) : latest.current()
      if (text === null) return
      event.preventDefault()
      event.clipboardData!.setData('text/plain', text)
    }
    document.addEventListener('copy', copy)
    return () => document.removeEventListener('copy', copy)
  }, [box])
}

/** What the browser has selected, without numbers, times, and the ends of wrapped rows. */
function selectedText(range: Range): string {
  const texts = [...range.cloneContents().querySelectorAll('[data-text]')].map((text) => text.textContent)
  return texts.length > 0 ? texts.join('\n') : range.toString()
}
