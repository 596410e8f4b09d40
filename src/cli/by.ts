// Who caused something, in a word or two.
import type { By } from '../api/parts/recorded.ts'

/** Empty where nobody is known: servers before this field leave it out. */
export function byWords(by: By | null | undefined): string {
  if (!by) return ''
  if (by.kind === 'session') return 'administrator'
  return by.name ?? by.kind
}
