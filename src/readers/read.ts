// Text that strangers wrote is parsed and matched by processes of its own. No text can hold the event loop:
// one that takes too long or too much memory ends its reader, and its caller gets `too_complex`.
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Readers, type ReadOptions } from './readers.ts'
import type { Tasks } from './tasks.ts'

export type { ReadOptions }

type TaskName = keyof Tasks
type Task<Name extends TaskName> = Awaited<ReturnType<Tasks[Name]>>

const program = fileURLToPath(new URL(`./reader${extname(import.meta.url)}`, import.meta.url))
const limits = { program, maxTaskSeconds: 5, maxHeapMib: 256 }
const halfOfCores = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)))
/** A source is read from a disk, for longer than others may wait. */
const sourceReaders = new Readers({ ...limits, maxReaders: halfOfCores })
const textReaders = new Readers({ ...limits, maxReaders: halfOfCores })
/** Anyone with a token may try patterns: nothing else waits for that. */
const trialReaders = new Readers({ ...limits, maxTaskSeconds: 1, maxReaders: 1 })

/**
 * Runs a task in a reader. Throws what the task throws, `too_complex`, `slow_down` if too many texts of the
 * owner wait, and the reason of the signal.
 */
export function read<Name extends TaskName>(
  name: Name,
  input: Parameters<Task<Name>>[0],
  options: ReadOptions,
): Promise<Awaited<ReturnType<Task<Name>>>> {
  return readersFor(name).run(name, input, options) as Promise<Awaited<ReturnType<Task<Name>>>>
}

function readersFor(name: TaskName): Readers {
  if (name === 'recipe') return sourceReaders
  return name === 'decideOnPaths' ? trialReaders : textReaders
}
