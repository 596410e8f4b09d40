// The API over a real store, with one log that has earlier lines and grows at a fixed rate. Each line
// contains the time of its append. Prints `{ port, path, token }`.
// Usage: log-server DATA_DIRECTORY LINES_PER_SECOND PAST_LINES
import { openApi } from '../../../src/http/pipeline/api.ts'
import { createLogger } from '../../../src/logger.ts'
import { openStorage } from '../../../storage/index.ts'
import { createContext, token } from '../../support/http/http-context.ts'

export interface LogServer {
  port: number
  path: string
  token: string
}

const [directory, linesPerSecond, pastLines] = [process.argv[2]!, ...process.argv.slice(3).map(Number)]
const storage = await openStorage(directory, { onPanic: (reason) => console.error(reason) })
const [deployId] = [...storage.actors.active()].map(({ id }) => id)
const logger = createLogger({ level: 'error' })
const { port } = await openApi(createContext(storage), { host: '127.0.0.1', port: 0, logger })

let appended = 0
appendUpTo(pastLines!)
await storage.logs.flush()
const startedAt = performance.now()
setInterval(() => appendUpTo(pastLines! + ((performance.now() - startedAt) / 1000) * linesPerSecond!), 5)

const report: LogServer = { port, path: `/api/v1/deploys/${deployId}/logs?follow=true`, token }
console.log(JSON.stringify(report))

function appendUpTo(count: number): void {
  for (; appended < count; appended++) {
    const at = (performance.timeOrigin + performance.now()).toFixed(2)
    storage.logs.append(deployId!, 'stdout', `${at} step 7/9: compiling the module of that name, one of many`)
  }
}
