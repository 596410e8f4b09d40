// The run of jobs: where Docker is to be restarted, in a namespace with an engine of its own, so that nobody
// else's containers notice; else here, with the engine of all others.
import { join } from 'node:path'
import { type Scope, temporaryDirectory } from '../../support/directory.ts'
import { ensureEngine } from '../../support/engine.ts'
import { baseImages } from '../../support/images.ts'
import { runInside, whyNoNamespace } from '../../support/namespace.ts'
import { saveImage } from '../../support/namespace-engine.ts'
import { readVictimMessages } from '../victim-messages.ts'
import type { JobOutcome } from './report.ts'
import { playDrill, type StageOptions } from './stage.ts'

export interface JobRunOptions extends Omit<StageOptions, 'baseImage'> {
  /** Says its lines on standard error too, as they come. */
  isSaidAtOnce: boolean
}

export { whyNoNamespace }

/** Restarts of the engine need a namespace: see `whyNoNamespace`. */
export async function runJobCrash(
  scope: Scope,
  { say, isSaidAtOnce, ...options }: JobRunOptions,
): Promise<JobOutcome> {
  const address = await ensureEngine()
  const { busybox: baseImage } = await baseImages()
  if (options.engineRestarts === 0) {
    const sayHere = isSaidAtOnce ? (line: string) => console.error(line) : say
    return playDrill(scope, { ...options, baseImage, say: sayHere }, null)
  }
  const prepared = temporaryDirectory(scope)
  await saveImage(address, baseImage, join(prepared, 'busybox.tar'))
  const { lines } = await runInside(new URL('./inside.ts', import.meta.url).href, {
    JOB_RUN: JSON.stringify({ ...options, baseImage, prepared }),
    ...(isSaidAtOnce ? { SAID_AT_ONCE: '1' } : {}),
  })
  return readVictimMessages<JobOutcome>(lines, say)
}
