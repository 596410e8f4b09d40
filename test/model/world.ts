// One deploy across restarts of the daemon, with clients that retry until they get a response.

import { codeOf } from '../../src/errors.ts'
import type { Receipt } from '../../src/supervisor/actor-factory.ts'
import type { Storage } from '../../storage/index.ts'
import { deployInput, slotOf } from '../support/machines/deploy-chart.ts'
import { serviceRow } from '../support/storage/store-fixtures.ts'
import { instant } from '../support/supervisor/supervision.ts'
import { type Daemon, type Disk, startDaemon, turns } from './daemon.ts'
import { type Plan, serviceAfter } from './life.ts'
import { type Late, Stage } from './stage.ts'

export type World = Awaited<ReturnType<typeof openWorld>>

export interface Conditions {
  disk: Disk
  late: Late
}

export async function openWorld(storage: Storage, plan: Plan, conditions: Conditions) {
  const { id, serviceId, formerDeployId, source: kind } = plan
  const row = { id: serviceId, name: serviceId, live_deploy_id: formerDeployId }
  await storage.services.create(serviceRow({ ...row, desired_deploy_id: formerDeployId }))
  const stage = new Stage(storage, plan, conditions.late)
  const forget = watchService(storage, plan, stage.wrongs)
  const disk = { ...conditions.disk }
  let daemon = startDaemon(storage, stage, disk)
  let ready = Promise.resolve()
  const source = { ...deployInput().source, kind }
  await daemon.supervisor.spawn('deploy', id, deployInput({ id, serviceId, source }))

  async function succeedWith(end: (daemon: Daemon) => Promise<void>): Promise<void> {
    ready = end(daemon).then(async () => {
      daemon = startDaemon(storage, stage, disk)
      await daemon.supervisor.restore()
    })
    await ready
  }

  return {
    stage,
    restart: () => succeedWith((old) => old.stop()),
    crash: () => succeedWith((old) => old.kill()),
    /** Repeats the same request after a daemon that died, stopped, or failed to write. */
    async send(event: { type: string }, eventId: string): Promise<Receipt> {
      for (;;) {
        const { supervisor, death } = daemon
        const reported = { at: instant, by: 'Ada', degraded: true, ...event }
        const response = supervisor.send(id, reported, { eventId: `${id} ${eventId}` }).catch(nullIfTransient)
        const receipt = await Promise.race([response, death])
        if (receipt !== null) return receipt
        await ready
      }
    },
    /** Waits until the effect of the stored state runs, or until the end. */
    async rest(): Promise<void> {
      const deadline = performance.now() + 30_000
      while (!stage.isFinal && stage.slot !== slotOf[stage.stateOnDisk]) {
        if (performance.now() > deadline) throw new Error(`no effect of ${stage.stateOnDisk} began in time`)
        await turns(1)
      }
    },
    async close(): Promise<void> {
      await daemon.stop()
      forget()
    },
  }
}

/** Compares the service with the model after every commit of the deploy. */
function watchService(storage: Storage, plan: Plan, wrongs: string[]): () => void {
  return storage.changes.subscribe(({ id }) => {
    if (id !== plan.id) return
    const steps = storage.actors.history(id)
    const expected = serviceAfter(plan, steps)
    const { live_deploy_id, desired_deploy_id, degraded } = storage.services.get(plan.serviceId)!
    const [is, should] = [{ live_deploy_id, desired_deploy_id, degraded }, expected].map((one) =>
      JSON.stringify(one),
    )
    if (is !== should) wrongs.push(`in ${steps.at(-1)!.state} the service is ${is}, not ${should}`)
  })
}

function nullIfTransient(error: unknown): null {
  if (['unavailable', 'commit_failed'].includes(codeOf(error))) return null
  throw error
}
