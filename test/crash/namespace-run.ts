// A part of the drill inside a namespace with an engine of its own. Writes log lines as JSON to stdout.
import { reportRun } from '../support/docker/namespace-run.ts'
import { runDrill } from './drill.ts'
import { type Passed, parts } from './run.ts'

const { part, directory, prepared, ...options } = JSON.parse(process.env.CRASH_RUN!) as Passed

await reportRun(directory, (setting) => runDrill(parts[part], options, { ...setting, prepared, log }))

/** With CRASH_LOG, which `npm run crash` sets, a line is also shown at once. */
function log(line: string): void {
  console.log(JSON.stringify({ said: line }))
  if (process.env.CRASH_LOG) console.error(line)
}
