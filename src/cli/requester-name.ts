// The cause of a change as a short name.
import type { By } from '../api/parts/fields.ts'

/** Empty if the server does not know it: older servers do not send this field. */
export function requesterName(by: By | null | undefined): string {
  if (!by) return ''
  if (by.kind === 'session') return 'administrator'
  return by.name ?? by.kind
}
