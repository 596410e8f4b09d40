// One of the bench's own programs, in a process of its own. It says what it has to say as one line of JSON: a
// server where it listens, a measurement what came out.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { Bench } from './bench.ts'
import { endProcess } from './built.ts'

export interface Program<Said> {
  pid: number
  said: Said
  end(): Promise<void>
}

/** Starts it and waits until it has spoken. It ends with the part, unless it has ended before. */
export async function startProgram<Said>(bench: Bench, name: string, args: string[]): Promise<Program<Said>> {
  const child = bench.programs.spawn(`test/bench/programs/${name}.js`, args)
  const end = () => endProcess(child)
  bench.after(end)
  return { pid: child.pid!, said: JSON.parse(await firstLine(name, child)), end }
}

/** Runs it to its end and gives what it said. */
export async function runProgram<Said>(bench: Bench, name: string, args: string[]): Promise<Said> {
  const program = await startProgram<Said>(bench, name, args)
  await program.end()
  return program.said
}

async function firstLine(name: string, child: ChildProcess): Promise<string> {
  const errors = text(child.stderr!)
  const failed = once(child, 'exit').then(async ([code]) => {
    throw new Error(`${name} ended with ${code}: ${await errors}`)
  })
  const lines = createInterface({ input: child.stdout! })
  const [line] = await Promise.race([once(lines, 'line'), failed])
  failed.catch(() => undefined)
  return line
}
