// `j` and `k` move through the links of a list's rows; Enter opens one, as any link.
import { useShortcut } from '../shell/shortcuts.ts'

/** The link of each row has `data-row`. */
export function useRowKeys(): void {
  useShortcut('j', 'Next row', () => move(1))
  useShortcut('k', 'Previous row', () => move(-1))
}

function move(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next = at < 0 ? rows[by === 1 ? 0 : rows.length - 1] : rows[at + by]
  next?.focus()
}
