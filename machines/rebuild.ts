// A new actor in place of one whose snapshot cannot be restored: what its record still tells.
// A record may be damaged too, or from an older version: every field is checked.

export interface RebuildFrom {
  /** What the API showed of the actor last. */
  record: Record<string, unknown>
  /** The input of whoever asks for an actor of this id; null for a plain retry. */
  asked: Record<string, unknown> | null
  at: string
}

/** The fields as texts; null when one of them is missing. */
export function textsOf<Field extends string>(
  record: Record<string, unknown>,
  ...fields: Field[]
): Record<Field, string> | null {
  const isWhole = fields.every((field) => typeof record[field] === 'string' && record[field] !== '')
  return isWhole ? (record as Record<Field, string>) : null
}
