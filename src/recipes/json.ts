// Values of a source's JSON, which may be anything.

export function toText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

export function toObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Without what every object has, for its keys are those of a source. */
export function toTexts(value: unknown): Record<string, string> {
  const texts = Object.entries(toObject(value)).filter(([, text]) => typeof text === 'string')
  return Object.assign(Object.create(null), Object.fromEntries(texts))
}

export function toList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
