// Who requested something, in words; empty if the server does not know it.
import type { By } from '../../api/parts/fields.ts'

export function requesterOf(by: By | null | undefined): string {
  if (!by) return ''
  if (by.kind === 'session') return 'the administrator'
  return by.name ?? (by.kind === 'terminal' ? 'a terminal' : `the ${by.kind}`)
}
