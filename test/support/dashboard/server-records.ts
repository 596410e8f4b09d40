// What the server knows of itself: alerts of each severity, open, acknowledged and over.
import type { Storage } from '../../../storage/index.ts'
import { transitionOf } from '../storage/store-fixtures.ts'

const minute = 60_000

interface StagedAlert {
  agoMs: number
  status?: 'raised' | 'acknowledged' | 'recovered'
  severity: 'problem' | 'warning' | 'info'
  rule: string
  title: string
  body: string
  count?: number
}

const alerts: StagedAlert[] = [
  {
    agoMs: 900 * minute,
    status: 'recovered',
    severity: 'problem',
    rule: 'engine_unreachable',
    title: 'The Docker engine does not respond',
    body: 'systemctl status docker',
  },
  {
    agoMs: 300 * minute,
    status: 'acknowledged',
    severity: 'info',
    rule: 'certificate_expires',
    title: 'The certificate of shop.example.com expires soon',
    body: 'It is valid until 2027-01-09.\nrate limited by the authority\nberth certs shop.example.com',
  },
  {
    agoMs: 42 * minute,
    severity: 'warning',
    rule: 'service_memory',
    title: 'shop is almost at its memory limit',
    body: 'It is at 94 %; the limit is 90 %.\nberth status shop',
    count: 12,
  },
  {
    agoMs: 3 * minute,
    severity: 'problem',
    rule: 'host_disk',
    title: 'The disk of the host is almost full',
    body: 'It is at 91 %; the limit is 85 %.\nberth info',
  },
]

export async function addAlerts({ actors, ids }: Storage): Promise<void> {
  for (const { agoMs, status = 'raised', rule, count = 1, ...facts } of alerts) {
    const id = ids.newId('alr')
    const isOfShop = rule.startsWith('service')
    const subject = isOfShop
      ? { kind: 'service', id: 'svc-1', name: 'shop' }
      : { kind: 'host', id: 'host', name: 'the host' }
    const at = new Date(Date.now() - agoMs).toISOString()
    const final = status === 'recovered'
    const one = { id, kind: 'alert', service_id: isOfShop ? 'svc-1' : null, final }
    const { record, ...rest } = transitionOf(one, { status })
    const times = { created_at: at, last_at: at, recovered_at: final ? at : null, cleared_at: null }
    const by = { acknowledged_at: null, acknowledged_by: status === 'acknowledged' ? 'ada' : null }
    await actors.create({ ...rest, record: { ...record, ...facts, ...times, ...by, rule, count, subject } })
  }
}

const good = { severity: 'good', why: null, fix: null }

/** What the doctor says of a host with a problem and a warning. */
export const doctorReport = {
  checked_at: new Date().toISOString(),
  findings: [
    {
      code: 'file_exposed',
      severity: 'problem',
      found: '/var/lib/berth/secret_key has mode 0644',
      why: 'Other users of this host may read the secrets of the server.',
      fix: 'chmod 600 /var/lib/berth/secret_key',
    },
    {
      code: 'swap_missing',
      severity: 'warning',
      found: 'this host has 2.0 GiB of memory and no swap',
      why: 'A short peak, as of a build, ends in killed processes.',
      fix: 'fallocate -l 2G /swapfile && chmod 600 /swapfile && mkswap /swapfile && swapon /swapfile',
    },
    { ...good, code: 'disk', found: '31 GiB of 40 GiB free at /var/lib/berth' },
    { ...good, code: 'clock', found: '2026-01-01T00:00:00.000Z, kept by chronyd' },
  ],
}
