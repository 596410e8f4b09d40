// Rebuilds a certificate actor without a usable snapshot: it orders again, and the old certificate
// serves until then.
import { type RebuildFrom, textsOf } from '../rebuild.ts'
import type { CertificateInput } from './certificate.ts'

export function rebuild({ record, at }: RebuildFrom): CertificateInput | null {
  const fields = textsOf(record, 'id', 'host')
  const serviceId = typeof record.service_id === 'string' ? record.service_id : null
  return fields && { id: fields.id, serviceId, host: fields.host, at }
}
