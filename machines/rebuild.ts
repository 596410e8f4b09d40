// Rebuilding an actor with an unusable snapshot from its record.
// The record may be damaged too, or from an older version, so every field is checked.

export interface RebuildFrom {
  /** The last record of the actor. */
  record: Record<string, unknown>
  /** The input of a new request for this id; null for a retry. */
  asked: Record<string, unknown> | null
  at: string
}

/** The fields as strings; null if one is missing or empty. */
export function textsOf<Field extends string>(
  record: Record<string, unknown>,
  ...fields: Field[]
): Record<Field, string> | null {
  const isComplete = fields.every((field) => typeof record[field] === 'string' && record[field] !== '')
  return isComplete ? (record as Record<Field, string>) : null
}
