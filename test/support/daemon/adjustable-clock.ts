// Moves the clock of a running daemon: its `Date` adds an offset that it reads from a file.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Scope, temporaryDirectory } from '../system/directory.ts'

const shim = (path: string) => `import { readFileSync } from 'node:fs'
const now = Date.now.bind(Date)
let ahead = 0
const look = () => { ahead = Number(readFileSync(${JSON.stringify(path)}, 'utf8')) }
look()
setInterval(look, 100).unref()
const Real = Date
globalThis.Date = class extends Real {
  constructor(...given) { given.length === 0 ? super(now() + ahead) : super(...given) }
  static now() { return now() + ahead }
}
`

/** `env` is for the daemon. `set` moves its clock to that many milliseconds ahead of the real time. */
export function adjustableClock(scope: Scope) {
  const directory = temporaryDirectory(scope)
  const [path, program] = [join(directory, 'ahead'), join(directory, 'clock.mjs')]
  const set = (aheadMs: number) => writeFileSync(path, String(aheadMs))
  set(0)
  writeFileSync(program, shim(path))
  return { env: { NODE_OPTIONS: `--import=${pathToFileURL(program)}` }, set }
}
