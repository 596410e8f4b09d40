// Kills a daemon whose event loop hangs, so that its supervisor (systemd, Docker) starts it again. A separate
// thread checks a counter that the event loop increments once a second. It counts its own checks and not the
// time, so that a stopped process or a suspended host does not count as a hang.
import { Worker } from 'node:worker_threads'

const beatMs = 1000

/**
 * Plain JavaScript without a file, so that it starts the same from source and from the build. It writes to
 * the descriptor itself: the streams of a thread go through the main one.
 */
const thread = `
  const { writeFileSync, writeSync } = require('node:fs')
  const { beats, beatMs, limitSeconds, endFile } = require('node:worker_threads').workerData
  let seen = Atomics.load(beats, 0)
  let misses = 0
  setInterval(() => {
    const now = Atomics.load(beats, 0)
    misses = now === seen ? misses + 1 : 0
    seen = now
    if (misses * beatMs < limitSeconds * 1000) return
    const msg = 'the event loop has not run for ' + limitSeconds + ' s: berthd kills itself to be restarted'
    try {
      writeFileSync(endFile, 'event_loop_blocked')
      writeSync(2, JSON.stringify({ level: 'fatal', ts: new Date().toISOString(), msg }) + '\\n')
    } finally {
      process.kill(process.pid, 'SIGKILL')
    }
  }, beatMs)
`

/** Sends SIGKILL when the event loop has not run for that many seconds, after it wrote that to the file. */
export function startWatchdog({ limitSeconds, endFile }: { limitSeconds: number; endFile: string }): void {
  const beats = new Int32Array(new SharedArrayBuffer(4))
  setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref()
  const options = { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 16 } }
  new Worker(thread, { ...options, workerData: { beats, beatMs, limitSeconds, endFile } }).unref()
}
