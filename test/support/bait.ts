// Where hostile texts would leave a trace if anything ran them: a folder that stays empty, and a port that
// nobody calls.
import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { type Scope, temporaryDirectory } from './directory.ts'
import type { Bait } from './hostile.ts'

export interface LaidBait extends Bait {
  /** What happened: the names of files that were made, and calls. Empty when all is well. */
  taken(): string[]
}

export async function layBait(t: Scope): Promise<LaidBait> {
  const directory = temporaryDirectory(t)
  const calls: string[] = []
  const server = createServer((socket) => {
    calls.push('a call')
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { directory, port, taken: () => [...readdirSync(directory), ...calls] }
}
