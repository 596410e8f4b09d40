// Kills a daemon whose event loop hangs, so that its supervisor starts it again. systemd takes over from it
// when the daemon is ready. A separate thread checks a counter that the event loop increments once a second.
// It counts its own checks and not the time: a stopped process or a suspended host does not count as a hang.
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

/** Sends SIGKILL when the event loop has not run for that long, after it wrote that to the file; or ends. */
export function startWatchdog(options: { limitSeconds: number; endFile: string }): () => void {
  const beats = new Int32Array(new SharedArrayBuffer(4))
  const beat = setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref()
  const workerData = { beats, beatMs, ...options }
  const limits = { maxOldGenerationSizeMb: 16 }
  const worker = new Worker(thread, { eval: true, execArgv: [], resourceLimits: limits, workerData })
  worker.unref()
  return () => {
    void worker.terminate()
    clearInterval(beat)
  }
}
