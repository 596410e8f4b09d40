// Requests to the edge of another network, as a process that is started in that network. Ends with its input,
// and prints how many were answered and why the others failed.
import { once } from 'node:events'
import { startLoad } from '../support/edge/edge-load.ts'

const cleanups: (() => unknown)[] = []
const load = startLoad(
  { after: (cleanup) => void cleanups.push(cleanup) },
  // The edge refuses more than 500 requests a second from one address.
  { port: 80, host: process.argv[2]!, pauseMs: 50 },
)
await load.round()
console.log('started')
await once(process.stdin.resume(), 'end')
for (const cleanup of cleanups) await cleanup()
console.log(JSON.stringify({ answered: load.answers.length, failures: load.failures }))
