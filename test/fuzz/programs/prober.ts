// Asks a server for /healthz without a pause. Each message is answered with the longest answer since the one
// before, in milliseconds; null if the server did not answer.
import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

const url = process.argv[2]!
const agent = new Agent({ keepAlive: true })
const pauseMs = 5
const limitMs = 70_000
let longestMs: number | null = 0

process.on('message', () => {
  process.send!(longestMs)
  longestMs = 0
})
process.on('disconnect', () => process.exit())

for (;;) {
  const startedAt = performance.now()
  const isUp = await ask()
  const tookMs = performance.now() - startedAt
  longestMs = isUp && longestMs !== null ? Math.max(longestMs, tookMs) : null
  await delay(pauseMs)
}

function ask(): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { agent, timeout: limitMs }, (response) => response.resume().once('end', () => resolve(true)))
      .once('timeout', () => resolve(false))
      .once('error', () => resolve(false))
  })
}
