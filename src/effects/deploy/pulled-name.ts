// The name that a pull gives an image beside ours. It goes when ours is there; one that was here before the
// pull is somebody else's and stays. A note says which it was, because a kill may come in between.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { removePulledName } from '../../docker/pull.ts'
import type { Host } from '../host.ts'
import { workDirectory } from './source.ts'

export interface PullNote {
  /** What the deploy runs, with its digest where one is known. */
  reference: string
  /** The name to take off again; null when it was here before. */
  pulledName: string | null
}

const turns = new Map<string, Promise<unknown>>()

/**
 * Runs `work` while nobody else pulls that name or takes it off: two deploys of one image would pull the name
 * from under each other. Rejects when aborted while waiting.
 */
export async function withPulledName<T>(
  name: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const before = turns.get(name)
  let finish = () => {}
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  const turn = Promise.all([before, done])
  turns.set(name, turn)
  // Not when `work` ends: who gave up waiting leaves while another still has the name.
  void turn.then(() => {
    if (turns.get(name) === turn) turns.delete(name)
  })
  try {
    await unlessAborted(before, signal)
    return await work()
  } finally {
    finish()
  }
}

async function unlessAborted(waited: Promise<unknown> | undefined, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  let giveUp = () => {}
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason)
  })
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    await Promise.race([waited, aborted])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** Null when there is none that can be read: then everything is done again. */
export async function readPullNote(host: Host, deployId: string): Promise<PullNote | null> {
  try {
    return JSON.parse(await readFile(noteFile(host, deployId), 'utf8'))
  } catch {
    return null
  }
}

/** Written before what it tells of is done. */
export async function writePullNote(host: Host, deployId: string, note: PullNote): Promise<void> {
  const path = noteFile(host, deployId)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.new`, JSON.stringify(note))
  await rename(`${path}.new`, path)
}

/** Takes off the name that this deploy's pull gave, if it gave one. Doing it again changes nothing. */
export async function dropPulledName(host: Host, deployId: string, signal: AbortSignal): Promise<void> {
  const note = await readPullNote(host, deployId)
  if (!note?.pulledName) return
  await takeOffPulledName(host, deployId, signal)
  await writePullNote(host, deployId, { ...note, pulledName: null })
}

/** The same for a cleanup: writes nothing, as the disk may be full. The note goes with the rest. */
export async function takeOffPulledName(host: Host, deployId: string, signal: AbortSignal): Promise<void> {
  const name = (await readPullNote(host, deployId))?.pulledName
  if (name) await withPulledName(name, signal, () => removePulledName(host.engine, name))
}

function noteFile(host: Host, deployId: string): string {
  return join(workDirectory(host, deployId), 'pull.json')
}
