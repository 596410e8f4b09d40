// `j` and `k` move through the links of a list's rows; Enter opens one, as any link.
import { useShortcut } from '../shell/shortcuts.ts'

/** The link of each row has `data-row`. */
export function useRowKeys(): void {
  useShortcut('j', 'Next row', () => focusRow(1))
  useShortcut('k', 'Previous row', () => focusRow(-1))
}

/** The next or the previous one; without one in focus the first or the last. */
export function focusRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next = at < 0 ? rows[by === 1 ? 0 : rows.length - 1] : rows[at + by]
  next?.focus()
}
