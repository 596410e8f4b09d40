// Preloaded into the daemon. On SIGUSR2 it prints `{ usedMegabytes, loopDelayMs }`: the heap after a garbage
// collection, and the 99th percentile of the event loop's delay since the last signal. Needs --expose-gc.
import { monitorEventLoopDelay } from 'node:perf_hooks'

const resolutionMs = 1
const nanosecondsPerMs = 1e6
const delay = monitorEventLoopDelay({ resolution: resolutionMs })
delay.enable()

process.on('SIGUSR2', () => {
  // The histogram counts the whole interval between its ticks.
  const loopDelayMs = Math.max(0, delay.percentile(99) / nanosecondsPerMs - resolutionMs)
  globalThis.gc!()
  delay.reset()
  console.log(JSON.stringify({ usedMegabytes: process.memoryUsage().heapUsed / 1024 / 1024, loopDelayMs }))
})
