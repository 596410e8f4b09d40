// `berth audit`: who changed what, from where, and how it ended.
import type { AuditEntry } from '../../../api/audit.ts'
import { maxPageSize, type Query, readJson } from '../../client/client.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { parseSeconds, parseWholeNumber } from '../../service/setting-flags.ts'
import type { Style } from '../../terminal/output.ts'
import { printList } from '../../terminal/table.ts'

interface AuditOptions {
  /** Seconds. */
  since?: number
  until?: number
  by?: string
  action?: string
  limit?: number
}

export function addAuditCommands(program: BerthCommand): void {
  program
    .command('audit')
    .argument('[name]', 'only what was done to this: a service, a datastore, a token, any id or name')
    .description('list who changed what, from where, and how it ended')
    .option('--since <time>', 'only the last part of the time, such as 90m, 12h or 2d', parseSeconds)
    .option('--until <time>', 'only what is older than this, such as 1d', parseSeconds)
    .option('--by <who>', 'only by this: an e-mail, a token, or a kind such as session or visitor')
    .option('--action <text>', 'only actions that contain this, such as env or token.create')
    .option('-n, --limit <number>', 'so many of the newest (30)', parseWholeNumber)
    .examples(
      'berth audit',
      'berth audit shop --since 2d',
      'berth audit --by visitor',
      'berth audit --json -n 500',
    )
    .runs(showAudit)
}

async function showAudit(cli: Cli, subject: string | undefined, options: AuditOptions): Promise<void> {
  const { since, until, by: actor, action, limit = 30 } = options
  const instant = (seconds?: number) => seconds && new Date(Date.now() - seconds * 1000).toISOString()
  const query = { subject, actor, action, since: instant(since), until: instant(until) }
  const newest = await fetchEntries(cli, query, limit)
  const isFiltered = Object.values(query).some((value) => value !== undefined)
  const notice = isFiltered ? 'nothing matches' : 'nothing happened yet'
  const entries = cli.out.isJson ? newest : newest.toReversed()
  printList(cli.out, entries, notice, [
    { heading: 'AT', text: ({ at }) => at.replace(/\.\d+/, ''), style: () => 'dim' },
    { heading: 'WHO', text: ({ actor }) => actor.name ?? actor.kind, style: whoStyle },
    { heading: 'FROM', text: ({ address, count }) => address ?? (count > 1 ? 'several' : 'here') },
    { heading: 'OUTCOME', text: outcomeOf, style: outcomeStyle },
    { heading: 'ACTION', text: ({ action }) => action },
    { heading: 'OF', text: subjectOf, isFlexible: true },
  ])
}

/** A page of a filter may be short, and still have a next one. */
async function fetchEntries({ client, signal }: Cli, query: Query, limit: number): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  let before: string | undefined
  do {
    const part = { ...query, limit: Math.min(maxPageSize, limit - entries.length), before }
    const response = await client.open('GET', '/audit', { query: part })
    before = /[?&]before=([\w-]+)/.exec(response.headers.get('link') ?? '')?.[1]
    entries.push(...(await readJson<AuditEntry[]>(response, { url: client.url, signal })))
  } while (before !== undefined && entries.length < limit)
  return entries
}

function subjectOf({ subject, service_name: owner, changed, created }: AuditEntry): string {
  const name = subject.name ?? subject.id
  const of = owner !== null && owner !== name ? ` of ${owner}` : ''
  const what = `${subject.kind.replaceAll('_', ' ')}${name === null ? '' : ` ${name}`}${of}`
  const more = [created, changed.join(', ')].filter((text) => text)
  return more.length === 0 ? what : `${what}: ${more.join(', ')}`
}

function outcomeOf({ finished_at: end, status, code, exit_code: exit, count }: AuditEntry): string {
  const times = count > 1 ? ` ×${count}` : ''
  if (end === null) return 'unknown'
  if (exit !== null) return `exit ${exit}`
  return `${code ?? ((status ?? 0) >= 400 ? status : 'done')}${times}`
}

function outcomeStyle(entry: AuditEntry): Style {
  if (entry.finished_at === null) return 'yellow'
  return entry.code !== null || (entry.status ?? 0) >= 400 || entry.exit_code ? 'red' : 'green'
}

function whoStyle({ actor }: AuditEntry): Style | null {
  return actor.kind === 'visitor' ? 'yellow' : null
}
