// A few worker processes that take test files from one queue. A worker that crashes or hangs fails its file
// and is replaced.
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FileResult } from './results.ts'

type Message =
  | { event: 'ready' | 'finished'; residentBytes: number }
  | { event: 'result'; result: FileResult }

export interface PoolOptions {
  workers: number
  /** Node's own options, such as `--test-name-pattern=…`. */
  nodeOptions: readonly string[]
  env: NodeJS.ProcessEnv
  onResult(result: FileResult): void
}

const home = fileURLToPath(new URL('../../..', import.meta.url))
const minuteMs = 60_000
/** Installing the package twice takes a quarter of an hour, building all fixtures of the recipes an hour. */
const timeoutOf = (file: string) => (file.endsWith('.long.test.ts') ? 90 : 20) * minuteMs
const exitTimeoutMs = minuteMs
/** Linux copies the page tables of a process for each child. From 2 GiB, a start takes ten times as long. */
const maxResidentBytes = 600 * 1024 * 1024

/** Runs all files; resolves when every one has a result. */
export async function runFiles(files: readonly string[], options: PoolOptions): Promise<void> {
  const queue = [...files]
  const work = async () => {
    while (queue.length > 0) await runWorker(queue, options)
  }
  await Promise.all(Array.from({ length: Math.min(options.workers, files.length) }, work))
}

/** Resolves when the worker has exited: the queue is empty, the worker has grown large, or it failed. */
function runWorker(queue: string[], { nodeOptions, env, onResult }: PoolOptions): Promise<void> {
  const worker = startWorker(nodeOptions, env)
  const output: string[] = []
  const unreported = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  for (const stream of [worker.stdout!, worker.stderr!])
    stream.on('data', (text) => output.push(String(text)))

  const next = (isLarge: boolean) => {
    clearTimeout(timer)
    const file = isLarge ? undefined : queue.shift()
    timer = setTimeout(() => worker.kill('SIGKILL'), file === undefined ? exitTimeoutMs : timeoutOf(file))
    if (file !== undefined) {
      output.length = 0
      unreported.add(file)
    }
    worker.send({ file: file === undefined ? null : join(home, file) })
  }
  worker.on('message', (message: Message) => {
    if (message.event !== 'result') return next(message.residentBytes > maxResidentBytes)
    const file = message.result.file.slice(home.length)
    unreported.delete(file)
    onResult({ ...message.result, file })
  })
  return new Promise((resolve) => {
    worker.on('exit', (code, signal) => {
      clearTimeout(timer)
      const problem = `its process ended with ${signal ?? code}: ${output.join('').slice(-4000)}`
      for (const file of unreported) onResult({ file, milliseconds: 0, tests: [], problem })
      resolve()
    })
  })
}

function startWorker(nodeOptions: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const reporter = [
    `--test-reporter=${join(home, 'test/support/runner/reporter.ts')}`,
    '--test-reporter-destination=stdout',
  ]
  return fork(join(home, 'test/support/runner/worker.ts'), {
    cwd: home,
    env,
    execArgv: ['--conditions=development', '--import', 'tsx', ...reporter, ...nodeOptions],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
}
