// Builds the image of a deploy. Its name is derived from the deploy's id, so it is never built twice.
import { inTurn } from '../../../async/in-turn.ts'
import { sleep } from '../../../async/sleep.ts'
import { chooseBuilder } from '../../../builders/index.ts'
import { emptyBuildCache } from '../../../docker/build/build-cache.ts'
import { imageName } from '../../../docker/engine/names.ts'
import { inspectImage } from '../../../docker/images/images.ts'
import { codeOf, Failure, messageOf } from '../../../errors.ts'
import { duration } from '../../../quantities.ts'
import { removeFormerArchives } from '../../../sources/archive.ts'
import { guardDockerDisk } from '../../disk/disk.ts'
import { isoNow } from '../../iso-now.ts'
import type { DeployPhase } from '../phase.ts'
import { removeWork } from '../source/source.ts'
import { findPreDeployCommand } from '../start/pre-deploy.ts'
import { createBuildJob } from './job.ts'

interface BuildInput {
  clearCache: boolean
  timeoutMs: number
}

const mebibyte = 1024 * 1024
const cacheClearAttempts = 10

export async function buildImage(phase: DeployPhase, input: BuildInput) {
  const { ports, id } = phase
  const image = imageName(ports.owner, phase.service.name, id)
  if (!(await phase.withEngine(() => inspectImage(ports.engine, image)))) {
    await withBuildSlot(phase, () => buildInSlot(phase, input, image))
    await phase.withEngine(() => inspectImage(ports.engine, image))
  }
  await removeWork(ports, id)
  await removeFormerArchives(ports)
  return { image, preDeploy: findPreDeployCommand(phase.release) !== null }
}

/** Reports to the actor that its build waits or begins, because the deadline counts from the beginning. */
async function withBuildSlot(
  { ports, id, log, signal, isRepeated }: DeployPhase,
  build: () => Promise<void>,
): Promise<void> {
  const report = (type: 'build.queued' | 'build.started') => ports.actors.send(id, { type, at: isoNow() })
  let queued: Promise<unknown> = Promise.resolve()
  const onWait = (running: number) => {
    log.info(slotWaitMessage(running))
    queued = report('build.queued')
    queued.catch(() => undefined)
  }
  const work = async () => {
    await queued
    await report('build.started')
    if (isRepeated) log.info('the build starts again: the daemon was restarted')
    await build()
  }
  await inTurn(ports.buildSlots, signal, work, onWait)
}

function slotWaitMessage(running: number): string {
  return `waiting for a build slot: ${running === 1 ? '1 build is' : `${running} builds are`} running`
}

/** The build's time limit starts here, once it has its slot. */
async function buildInSlot(phase: DeployPhase, { clearCache, timeoutMs }: BuildInput, image: string) {
  const { ports, log, signal } = phase
  const expired = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, expired])
  try {
    const build = () =>
      guardDockerDisk(ports, 'a build', either, async (bound) => {
        // If the engine became unavailable at the very end, the build may still have finished.
        if (await inspectImage(ports.engine, image)) return
        const job = createBuildJob(phase.withSignal(bound), clearCache)
        await (await chooseBuilder(job)).build(job)
      })
    const onUnavailable = () => log.info('the Docker engine became unavailable: building again')
    await phase.withSignal(either).withEngine(build, onUnavailable)
  } catch (error) {
    if (expired.aborted && !signal.aborted) {
      const limit = `${duration(timeoutMs)} (--build-timeout)`
      throw new Failure('build_timeout', `the build took longer than its limit of ${limit}`)
    }
    if (codeOf(error) === 'insufficient_storage') await emptyCache(phase)
    throw error
  }
}

/** It has the finished steps of canceled builds, which the engine releases about a second after them. */
async function emptyCache({ ports, log, signal }: DeployPhase): Promise<void> {
  try {
    let freedBytes = 0
    for (let attempt = 0; freedBytes === 0 && attempt < cacheClearAttempts; attempt++) {
      await sleep(1000, signal)
      freedBytes = await emptyBuildCache(ports.engine)
    }
    const freedMb = Math.floor(freedBytes / mebibyte)
    log.info(`the build cache was emptied because the disk is too full: ${freedMb} MiB freed`)
  } catch (error) {
    ports.logger.warn({ reason: messageOf(error) }, 'the build cache cannot be emptied')
  }
}
