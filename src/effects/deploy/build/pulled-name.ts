// The second name that a pull gives an image. It is removed once the image has Berth's own name. A name
// that existed before the pull belongs to another user of the engine and stays. A note on disk records
// which it was, because the daemon may be killed between the two steps.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { KeyedMutex } from '../../../async/keyed-mutex.ts'
import { removePulledName } from '../../../docker/images/pull.ts'
import type { DeployPorts } from '../ports.ts'
import { workDirectory } from '../source/source.ts'

export interface PullNote {
  /** The image that the deploy runs, with its digest if known. */
  reference: string
  /** The name to remove again; null if it existed before the pull. */
  pulledName: string | null
}

const nameLocks = new KeyedMutex()

/**
 * Runs `work` while nothing else pulls or removes that name: two deploys of one image would pull the name
 * from under each other. Rejects when aborted while waiting.
 */
export function withPulledName<T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return nameLocks.run(name, signal, work)
}

/** Null if there is no readable note: then all steps are repeated. */
export async function readPullNote(ports: DeployPorts, deployId: string): Promise<PullNote | null> {
  try {
    return JSON.parse(await readFile(noteFile(ports, deployId), 'utf8'))
  } catch {
    return null
  }
}

/** Written before the step that it describes. */
export async function writePullNote(ports: DeployPorts, deployId: string, note: PullNote): Promise<void> {
  const path = noteFile(ports, deployId)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.new`, JSON.stringify(note))
  await rename(`${path}.new`, path)
}

/** Removes the name that this deploy's pull added, if any. Idempotent. */
export async function dropPulledName(
  ports: DeployPorts,
  deployId: string,
  signal: AbortSignal,
): Promise<void> {
  const note = await readPullNote(ports, deployId)
  if (!note?.pulledName) return
  await removePulledNameOnly(ports, deployId, signal)
  await writePullNote(ports, deployId, { ...note, pulledName: null })
}

/** Like `dropPulledName`, but writes no note: the disk may be full. The note goes with the work directory. */
export async function removePulledNameOnly(
  ports: DeployPorts,
  deployId: string,
  signal: AbortSignal,
): Promise<void> {
  const name = (await readPullNote(ports, deployId))?.pulledName
  if (name) await withPulledName(name, signal, () => removePulledName(ports.engine, name))
}

function noteFile(ports: DeployPorts, deployId: string): string {
  return join(workDirectory(ports, deployId), 'pull.json')
}
