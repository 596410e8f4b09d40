// What the server knows of itself: alerts of each severity, open, acknowledged and over; and what it says of
// its channels, backup places and changes.
import type { AuditEntry } from '../../../src/api/audit.ts'
import type { BackupPlace } from '../../../src/api/backup-place.ts'
import type { Channel } from '../../../src/api/notification.ts'
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
  command: string
  count?: number
}

const alerts: StagedAlert[] = [
  {
    agoMs: 900 * minute,
    status: 'recovered',
    severity: 'problem',
    rule: 'engine_unreachable',
    title: 'The Docker engine does not respond',
    body: '',
    command: 'systemctl status docker',
  },
  {
    agoMs: 300 * minute,
    status: 'acknowledged',
    severity: 'info',
    rule: 'certificate_expires',
    title: 'The certificate of shop.example.com expires soon',
    body: 'It is valid until 2027-01-09.\nrate limited by the authority',
    command: 'berth certs shop.example.com',
  },
  {
    agoMs: 42 * minute,
    severity: 'warning',
    rule: 'service_memory',
    title: 'shop is almost at its memory limit',
    body: 'It is at 94 %; the limit is 90 %.',
    command: 'berth status shop',
    count: 12,
  },
  {
    agoMs: 3 * minute,
    severity: 'problem',
    rule: 'host_disk',
    title: 'The disk of the host is almost full',
    body: 'It is at 91 %; the limit is 85 %.',
    command: 'berth info',
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

const anHourAgo = new Date(Date.now() - 60 * minute).toISOString()
const noSettings = { host: null, port: null, tls: null, username: null, from: null, to: null, topic: null }
const unchanged = { created_at: anHourAgo, updated_at: anHourAgo }

export const channels: Channel[] = [
  {
    id: 'nch-1',
    name: 'team',
    kind: 'slack',
    enabled: true,
    min_severity: 'warning',
    ...noSettings,
    ...unchanged,
    services: null,
    codes: null,
    secret: null,
    url: 'https://hooks.slack.com/…',
    last_delivery: { id: 'ntf-2', status: 'delivered', at: anHourAgo, error: null },
  },
  {
    id: 'nch-2',
    name: 'on-call',
    kind: 'smtp',
    enabled: true,
    min_severity: 'problem',
    ...noSettings,
    ...unchanged,
    services: ['shop'],
    codes: null,
    secret: '***',
    url: null,
    host: 'mail.example.com',
    port: 587,
    tls: 'starttls',
    from: 'berth@example.com',
    to: ['ada@example.com', 'grace@example.com'],
    last_delivery: { id: 'ntf-1', status: 'waiting', at: anHourAgo, error: 'connect ECONNREFUSED' },
  },
]

const delivery = {
  event: 'alert.raised',
  severity: 'problem',
  may_be_repeat: false,
  folded_into: null,
} as const
const noFailure = { error: null, error_code: null, error_details: null, hint: null, next_attempt_at: null }

export const deliveries = channels.map(({ id: channel_id, name, last_delivery: last }, index) => ({
  ...delivery,
  ...noFailure,
  id: last!.id,
  channel_id,
  channel: name,
  status: last!.status,
  error: last!.error,
  message_id: `alr-1:${index}`,
  code: 'host_disk',
  title: 'The disk of the host is almost full',
  messages: 1 + 6 * index,
  attempts: [],
  created_at: anHourAgo,
  finished_at: null,
  revision: 1,
}))

export const places: BackupPlace[] = [
  {
    name: 'folder',
    kind: 'folder',
    is_default: false,
    location: '/var/lib/berth/backups',
    endpoint: null,
    bucket: null,
    prefix: null,
    region: null,
    path_style: null,
    access_key_id: null,
    created_at: null,
    updated_at: null,
  },
  {
    name: 'offsite',
    kind: 's3',
    is_default: true,
    location: 's3://shop-backups/berth/',
    endpoint: 'https://s3.example.com',
    bucket: 'shop-backups',
    prefix: 'berth/',
    region: 'us-east-1',
    path_style: true,
    access_key_id: 'AKIA1',
    ...unchanged,
  },
]

const person = { kind: 'session', id: 'ses-1', name: 'ada@example.com' } as const
const entry = { actor: person, address: '203.0.113.7', user_agent: 'Firefox', created: null, exit_code: null }

export const auditEntries: AuditEntry[] = [
  {
    ...entry,
    id: 'aud-2',
    at: anHourAgo,
    finished_at: anHourAgo,
    status: 200,
    code: null,
    count: 1,
    action: 'service.env',
    service_id: 'svc-1',
    service_name: 'shop',
    request_id: 'r-2',
    subject: { kind: 'service', id: 'svc-1', name: 'shop' },
    changed: ['STRIPE_KEY', 'LOG_LEVEL'],
  },
  {
    ...entry,
    id: 'aud-1',
    at: anHourAgo,
    finished_at: anHourAgo,
    status: 403,
    code: 'forbidden',
    count: 3,
    action: 'backup_place.put',
    service_id: null,
    service_name: null,
    request_id: 'r-1',
    actor: { kind: 'token', id: 'tok-1', name: 'ci' },
    changed: ['secret_access_key'],
    subject: { kind: 'backup_place', id: null, name: 'offsite' },
  },
]
