// A benchmark program in a separate process. It reports in one line of JSON: a server its address, a
// measurement its results.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { Bench } from './bench.ts'
import { endProcess } from './built.ts'

export interface Program<Report> {
  pid: number
  report: Report
  end(): Promise<void>
}

/** Starts it and waits for its line. Stopped at the end of the part unless it has exited. */
export async function startProgram<Report>(
  bench: Bench,
  name: string,
  args: string[],
): Promise<Program<Report>> {
  const child = bench.programs.spawn(`test/bench/programs/${name}.js`, args)
  const end = () => endProcess(child)
  bench.after(end)
  return { pid: child.pid!, report: JSON.parse(await firstLine(name, child)), end }
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
