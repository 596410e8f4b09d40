// A certificate whose snapshot cannot be restored is ordered anew; the former one serves until then.

import { type RebuildFrom, textsOf } from '../rebuild.ts'
import type { CertificateInput } from './certificate.ts'

export function rebuild({ record, at }: RebuildFrom): CertificateInput | null {
  const known = textsOf(record, 'id', 'host')
  const serviceId = typeof record.service_id === 'string' ? record.service_id : null
  return known && { id: known.id, serviceId, host: known.host, at }
}
