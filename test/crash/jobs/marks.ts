// Marks that runs send, in order of arrival. They prove that no run was started twice, and that runs of a
// cron service's own command never overlapped.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Scope } from '../../support/system/directory.ts'

export interface Mark {
  id: string
  word: 'start' | 'line' | 'end'
}

const pattern = /^(job-[0-9a-z]+) (start|line|end)\n$/

/** Listens on every address of the host; containers use the gateway of their network. */
export async function listenForMarks(scope: Scope, port: number): Promise<Mark[]> {
  const marks: Mark[] = []
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    // The sender may be killed at any moment.
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
    socket.setEncoding('utf8').on('data', (text) => {
      const [, id, word] = pattern.exec(String(text)) ?? []
      if (id !== undefined) marks.push({ id, word: word as Mark['word'] })
      socket.end()
    })
  })
  server.listen(port, '0.0.0.0')
  await once(server, 'listening')
  scope.after(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  return marks
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export const startsOf = (marks: readonly Mark[], id: string) =>
  marks.filter((mark) => mark.id === id && mark.word === 'start').length

/** A text per pair of runs of which one was active between two marks of the other. */
export function overlapFaults(marks: readonly Mark[], ownIds: ReadonlySet<string>): string[] {
  const serviceMarks = marks.filter(({ id }) => ownIds.has(id))
  const ids = [...new Set(serviceMarks.map(({ id }) => id))]
  return ids.flatMap((id) => {
    const from = serviceMarks.findIndex((mark) => mark.id === id)
    const to = serviceMarks.findLastIndex((mark) => mark.id === id)
    const others = new Set(serviceMarks.slice(from, to).map((mark) => mark.id))
    others.delete(id)
    return [...others].map((other) => `${other} was at work while ${id} was`)
  })
}
