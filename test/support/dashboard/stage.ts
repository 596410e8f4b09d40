// The API on a real store, without Docker, with an account and services in every state.
// Real charts run: what a page asks for happens, up to the phase that nothing ends.
import type { TestContext } from 'node:test'
import { openDashboard } from '../../../src/http/pages/dashboard.ts'
import type { InstanceStatus } from '../../../src/http/pipeline/context.ts'
import { createIds } from '../../../storage/store/ids.ts'
import { startWithAccount } from '../http/account.ts'
import { deployInput } from '../machines/deploy-chart.ts'
import { restingActors } from '../storage/parked-kinds.ts'
import { serviceRow } from '../storage/store-fixtures.ts'
import { type Act, certificates, minute, type Role, roles, runs } from './cast.ts'
import { hostile } from './hostile-texts.ts'
import { writeRequest } from './log-page.ts'
import { addAlerts } from './server-records.ts'
import { startStories, type Teller } from './stories.ts'

type Api = Awaited<ReturnType<typeof startWithAccount>>

export interface Stage extends Api {
  /** The newest deploy or run of each service, by its name. */
  newest: Record<string, string>
}

export async function openStage(t: TestContext): Promise<Stage> {
  let teller: Teller | undefined
  // Registered first, so that it runs before the store closes: the actors write to the store.
  t.after(() => teller?.supervisor.stop(1000))
  const api = await startWithAccount(t, {
    dashboard: openDashboard(),
    hasCertificate: (host) => host === 'shop.example.com',
  })
  teller = startStories(api.storage, ({ source }) => ({
    ms: {},
    staysIn: source?.kind === 'reuse' ? 'keepInstances' : 'buildImage',
  }))
  const ids = createIds(() => at)
  let at = 0
  const newest: Record<string, string> = {}

  async function perform(serviceId: string, act: Act, role: Role): Promise<void> {
    const startMs = Date.now() - act.agoMs
    at = startMs
    const { trigger = 'manual', source: kind = 'git', hears, by } = act
    const input = deployInput({ id: ids.newId('dep'), serviceId, trigger })
    const image = kind === 'image' ? role.image! : null
    const isGit = kind === 'git'
    // No phase times out while a slow machine looks at it.
    const limits = { fetchMs: 3_600_000, buildMs: 3_600_000, startMs: 3_600_000 }
    const source = { ...input.source, kind, image, ...(isGit ? {} : { repo_url: null, branch: null }) }
    const asker = by
      ? { kind: 'token' as const, id: 'tok-1', name: by }
      : { kind: 'session' as const, id: 'usr-1', name: null }
    newest[role.name] = await teller!.tell('deploy', { ...input, source, limits }, startMs, act, asker)
    if (!hears) return
    teller!.pass(minute)
    await teller!.send(input.id, hears)
    if (hears.type === 'cancel') await teller!.isOver(input.id)
  }

  // Older acts first, as their ids sort by time.
  const cast = roles.map((role, index) => ({ id: `svc-${index + 1}`, role }))
  for (const { id, role } of cast) {
    const { acts: _, saved: __, env = {}, degraded: ___, ...row } = role
    await api.storage.services.create(serviceRow({ ...row, id }))
    const vars = Object.entries(env).map(([key, value]) => ({ key, value }))
    await api.storage.env.replace(id, () => vars)
  }
  const acts = cast.flatMap(({ id, role }) => (role.acts ?? []).map((act) => ({ id, role, act })))
  for (const { id, role, act } of acts.sort((one, other) => other.act.agoMs - one.act.agoMs))
    await perform(id, act, role)
  for (const { id, role } of cast)
    await api.storage.services.update(id, (row) => ({
      ...row,
      ...role.saved,
      degraded: role.degraded ?? false,
    }))
  const cron = cast.find(({ role }) => role.type === 'cron_job')!
  for (const { agoMs, command, trigger, ...scene } of runs) {
    at = Date.now() - agoMs
    const input = {
      id: ids.newId('job'),
      serviceId: cron.id,
      command,
      trigger,
      image: 'berth/nightly',
      scheduledFor: trigger === 'schedule' ? new Date(at).toISOString() : null,
      overlap: 'skip',
      timeoutSeconds: 3600,
    }
    const by = { kind: trigger === 'schedule' ? 'schedule' : 'session', id: null, name: null } as const
    newest[`run ${trigger}`] = await teller.tell('job-run', input, at, scene, by)
  }
  for (const { host, agoMs, ...scene } of certificates) {
    at = Date.now() - agoMs
    const by = { kind: 'server', id: null, name: 'a new host' } as const
    await teller.tell(
      'certificate',
      { id: ids.newId('crt'), serviceId: 'svc-1', host } as never,
      at,
      scene,
      by,
    )
  }
  teller.finish()
  for (const [index, line] of ['GET /cart 200 12ms', ...hostile.lines].entries())
    api.storage.runtimeLogs.append('svc-1', index % 3 === 2 ? 'stderr' : 'stdout', line, undefined, {
      instance: `${index % 2}`,
    })
  for (const [path, status] of Object.entries({ '/': 200, '/late': 502 }))
    writeRequest(api, { serviceId: 'svc-1', path, status })
  await addResting(api)
  await addAlerts(api.storage)
  await api.storage.actors.park(
    newest.parked!,
    'the chart threw: x is not a function',
    new Date().toISOString(),
  )
  api.context.actors = teller.supervisor
  api.context.observe.instances = async (serviceId) => instancesOf(api, serviceId)
  return { ...api, newest }
}

const kindsWithStories = ['deploy', 'job-run', 'certificate', 'service-removal']

/** One actor of each other kind in each state in which it can wait. */
async function addResting({ storage }: Api): Promise<void> {
  let count = 0
  for (const { kind, transition } of restingActors((kind) => `${kind.slice(0, 3)}-${++count}`))
    if (!kindsWithStories.includes(kind)) await storage.actors.create(transition)
  const [backup] = storage.actors.active('backup')
  await storage.actors.park(
    backup!.id,
    'its snapshot does not fit',
    new Date().toISOString(),
    'snapshot_misfit',
  )
}

function instancesOf({ storage }: Api, serviceId: string): InstanceStatus[] {
  const row = storage.services.get(serviceId)!
  if (row.live_deploy_id === null || row.suspended) return []
  return Array.from({ length: row.degraded ? 1 : row.instances }, (_, index) => ({
    container_id: `${serviceId}-${index}`,
    name: `${row.name}-${index + 1}`,
    deploy_id: row.live_deploy_id!,
    state: row.degraded ? 'restarting' : 'running',
    address: `10.201.0.${14 + index}:3000`,
    started_at: new Date(Date.now() - 2 * 60 * minute).toISOString(),
    restart_count: row.degraded ? 4 : 0,
    cpu_percent: 11.6,
    memory_bytes: 155 * 1024 ** 2,
    memory_limit_bytes: 512 * 1024 ** 2,
    cpu_limit: 1,
    oom_killed: row.degraded,
    health: null,
    exit_code: null,
  }))
}
