// Loaded into the daemon before its own code: at SIGUSR2 it says `{ usedMegabytes, loopDelayMs }`, what its
// objects need once all that nobody uses is gone, and how late the event loop was since it was asked last, at
// the 99th percentile. Needs node's --expose-gc.
import { monitorEventLoopDelay } from 'node:perf_hooks'

const resolutionMs = 1
const nanosecondsPerMs = 1e6
const delay = monitorEventLoopDelay({ resolution: resolutionMs })
delay.enable()

process.on('SIGUSR2', () => {
  // The histogram counts from one tick of its clock to the next.
  const loopDelayMs = Math.max(0, delay.percentile(99) / nanosecondsPerMs - resolutionMs)
  globalThis.gc!()
  delay.reset()
  console.log(JSON.stringify({ usedMegabytes: process.memoryUsage().heapUsed / 1024 / 1024, loopDelayMs }))
})
