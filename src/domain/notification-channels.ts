// What each kind of channel needs, and what of it is secret.
import { randomBytes } from 'node:crypto'
import type { NotificationChannel } from '../../storage/notification-channels.ts'
import { invalidField } from '../errors.ts'
import { type Notice, noticeSeverities } from './notice.ts'

export type ChannelKind = NotificationChannel['kind']

export const channelKinds = ['webhook', 'smtp', 'slack', 'discord', 'ntfy'] as const
export const tlsModes = ['implicit', 'starttls', 'none'] as const

/** The settings that only some kinds have. */
export const settingNames = [
  'url',
  'secret',
  'topic',
  'host',
  'port',
  'tls',
  'username',
  'from',
  'to',
] as const
type SettingName = (typeof settingNames)[number]

const settings: Record<ChannelKind, { required: SettingName[]; optional: SettingName[] }> = {
  webhook: { required: ['url', 'secret'], optional: [] },
  smtp: { required: ['host', 'port', 'tls', 'from', 'to'], optional: ['username', 'secret'] },
  slack: { required: ['url'], optional: [] },
  discord: { required: ['url'], optional: [] },
  ntfy: { required: ['url', 'topic'], optional: ['secret'] },
}

/** Throws `invalid_request` for settings that are missing, or that the kind does not have. */
export function assertChannel(channel: NotificationChannel): void {
  const { kind, username, secret } = channel
  const { required, optional } = settings[kind]
  for (const name of settingNames) {
    const isGiven = channel[name] !== null
    if (required.includes(name) && !isGiven) throw invalidField(name, `is required for ${kind}`)
    if (isGiven && ![...required, ...optional].includes(name)) {
      throw invalidField(name, `is not a setting of ${kind}`)
    }
  }
  if (kind === 'smtp' && (username === null) !== (secret === null)) {
    throw invalidField(username === null ? 'username' : 'secret', 'a mail server wants both or none of them')
  }
  assertSafe(channel)
}

/** Secrets do not leave the machine in clear text. */
function assertSafe({ kind, url, secret, host, tls }: NotificationChannel): void {
  const target = url === null ? null : new URL(url)
  const isChat = kind === 'slack' || kind === 'discord'
  if (isChat && target?.protocol === 'http:' && !isLocal(target.hostname)) {
    throw invalidField('url', 'must begin with https://, because it is a secret')
  }
  if (kind === 'smtp' && secret !== null && tls === 'none' && !isLocal(host!)) {
    throw invalidField('tls', 'a password needs implicit or starttls')
  }
  if (kind === 'webhook' && !/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret!)) {
    throw invalidField(
      'secret',
      'must be whsec_ and 24 to 64 bytes in base64',
      'leave it out to get a new one',
    )
  }
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127\.[\d.]+$/.test(host)
}

export function wants(
  { enabled, min_severity, services, codes }: NotificationChannel,
  { severity, subject, code }: Notice,
): boolean {
  const isSevere = noticeSeverities.indexOf(severity) >= noticeSeverities.indexOf(min_severity)
  const isAbout = services === null || (subject !== null && services.includes(subject.id))
  return enabled && isSevere && isAbout && (codes === null || codes.includes(code))
}

/** The input of the actor that sends it. */
export function notificationOf(
  { id: channelId, name: channelName }: NotificationChannel,
  notice: Notice,
  { id, maxTries }: { id: string; maxTries: number },
) {
  const at = new Date().toISOString()
  return { id, channelId, channelName, messageId: id, notice, maxTries, mayRepeat: false, at }
}

export const webhookSecretPrefix = 'whsec_'

export function newWebhookSecret(): string {
  return webhookSecretPrefix + randomBytes(32).toString('base64')
}

/** The path of an incoming webhook is a secret; of other addresses only the query may be. */
export function maskedUrl({ kind, url }: Pick<NotificationChannel, 'kind' | 'url'>): string | null {
  if (url === null) return null
  const { origin, pathname, search } = new URL(url)
  const isSecret = kind === 'slack' || kind === 'discord'
  return isSecret ? `${origin}/…` : `${origin}${pathname}${search && '?…'}`
}

export function maskedSecret({ kind, secret }: Pick<NotificationChannel, 'kind' | 'secret'>): string | null {
  if (secret === null) return null
  return kind === 'webhook' ? 'whsec_…' : '…'
}
