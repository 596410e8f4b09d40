// A proxy that delays some requests to the engine, as a busy engine does.
// A delayed request reaches the engine even if its client has given up.
import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Scope } from '../system/directory.ts'

export interface DelayingProxy {
  /** Delays requests whose request line matches; null ends the delays. */
  delay(rule: { pattern: RegExp; ms: number } | null): void
  /** Request lines of delayed requests without a response. */
  readonly waiting: ReadonlySet<string>
}

/** Listens on the Unix socket `path` and forwards to the Unix socket `target`. */
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
      // The engine has started the work by now: a lost client does not stop it.
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
    delay(input) {
      rule = input
    },
  }
}
