// A line of the access log with ordinary values, except for the given changes.
import type { AccessLine } from '../../../src/edge/access-line.ts'

export function accessLine(changes: Partial<AccessLine> = {}): AccessLine {
  return {
    at: '2026-01-02T03:04:05.678Z',
    id: 'b-1',
    serviceId: 'svc-1',
    deployId: 'dep-1',
    instance: 0,
    client: '203.0.113.9',
    method: 'GET',
    host: 'shop.localhost',
    path: '/path',
    protocol: 'HTTP/1.1',
    tls: false,
    status: 200,
    failure: null,
    bytesIn: 80,
    bytesOut: 1234,
    durationMs: 12,
    firstByteMs: changes.durationMs ?? 12,
    userAgent: 'curl/8',
    ...changes,
  }
}
