// Rebuilds the edge actor without a usable snapshot.

import type { RebuildFrom } from '../rebuild.ts'
import type { EdgeInput, EdgeMode } from './edge.ts'

/** It needs only the settings. The running HAProxy version is read from the processes themselves. */
export function rebuild({ record, asked, at }: RebuildFrom): EdgeInput | null {
  const { id, mode, httpPort, httpsPort } =
    asked ??
    ({
      ...record,
      ...{ httpPort: record.http_port, httpsPort: record.https_port },
    } as Record<string, unknown>)
  if (typeof httpPort !== 'number' || typeof httpsPort !== 'number' || typeof mode !== 'string') return null
  return { id: String(id), mode: mode as EdgeMode, httpPort, httpsPort, at }
}
