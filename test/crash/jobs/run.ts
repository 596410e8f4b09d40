// The job run. With Docker restarts it uses a private engine in a namespace, otherwise the shared engine.
import { join } from 'node:path'
import { ensureEngine } from '../../support/docker/engine.ts'
import { baseImages } from '../../support/docker/images.ts'
import { saveImage } from '../../support/docker/namespace-engine.ts'
import { type Scope, temporaryDirectory } from '../../support/system/directory.ts'
import { runInside, whyNoNamespace } from '../../support/system/namespace.ts'
import { readVictimMessages } from '../victim-messages.ts'
import type { JobOutcome } from './report.ts'
import { playDrill, type StageOptions } from './stage.ts'

export interface JobRunOptions extends Omit<StageOptions, 'baseImage'> {
  /** Also writes its lines to standard error as they come. */
  logsToStderr: boolean
}

export { whyNoNamespace }

/** Restarts of the engine need a namespace: see `whyNoNamespace`. */
export async function runJobCrash(
  scope: Scope,
  { log, logsToStderr, ...options }: JobRunOptions,
): Promise<JobOutcome> {
  const address = await ensureEngine()
  const { busybox: baseImage } = await baseImages()
  if (options.engineRestarts === 0) {
    const logHere = logsToStderr ? (line: string) => console.error(line) : log
    return playDrill(scope, { ...options, baseImage, log: logHere }, null)
  }
  const prepared = temporaryDirectory(scope)
  await saveImage(address, baseImage, join(prepared, 'busybox.tar'))
  const { lines } = await runInside(new URL('./namespace-run.ts', import.meta.url).href, {
    JOB_RUN: JSON.stringify({ ...options, baseImage, prepared }),
    ...(logsToStderr ? { SAID_AT_ONCE: '1' } : {}),
  })
  return readVictimMessages<JobOutcome>(lines, log)
}
