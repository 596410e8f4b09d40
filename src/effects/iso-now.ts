// The current time as records and events store it.
export const isoNow = (): string => new Date().toISOString()
