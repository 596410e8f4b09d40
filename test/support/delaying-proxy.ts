// A door in front of the engine that lets some requests through late, and although whoever asked has given up
// meanwhile: so does an engine that has much to do.
import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Scope } from './directory.ts'

export interface DelayingProxy {
  /** Requests whose first line matches come so much later from now on; null for none. */
  delay(rule: { pattern: RegExp; ms: number } | null): void
  /** First lines of those that are late and not through yet. */
  readonly waiting: ReadonlySet<string>
}

/** From one path of a socket to another. */
export async function openDelayingProxy(t: Scope, path: string, target: string): Promise<DelayingProxy> {
  const waiting = new Set<string>()
  let rule: { pattern: RegExp; ms: number } | null = null
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => client.destroy())
    client.once('data', async (first: Buffer) => {
      client.pause()
      const line = first.toString('latin1').split('\r\n')[0]!
      const isLate = rule?.pattern.test(line)
      if (isLate) {
        waiting.add(line)
        await delay(rule!.ms)
      }
      const upstream = connect(target)
      upstream.on('error', () => upstream.destroy()).on('close', () => client.destroy())
      // It has begun by now: that nobody waits for the answer does not end it.
      upstream.write(first)
      if (isLate) upstream.once('data', () => waiting.delete(line))
      else client.on('close', () => upstream.destroy())
      client.pipe(upstream, { end: !isLate })
      upstream.pipe(client)
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  t.after(() => server.close())
  return {
    waiting,
    delay(given) {
      rule = given
    },
  }
}
