// What the page of a service's logs shows, as its address has it.

/** Missing fields show all. */
export interface LogPlace {
  /** Requests instead of the output of the instances. */
  kind?: 'access'
  q?: string
  stream?: string
  instance?: number
  /** The first digit. */
  status?: number
}

export function toLogPlace({ kind, q, stream, instance, status }: Record<string, unknown>): LogPlace {
  return {
    ...(kind === 'access' && { kind }),
    ...(q !== undefined && { q: String(q) }),
    ...(typeof stream === 'string' && { stream }),
    ...(typeof instance === 'number' && { instance }),
    ...(typeof status === 'number' && { status }),
  }
}
