// What systemd hears of berthd (`Type=notify`). Node cannot open the datagram socket that this needs, but it
// can write to it: systemd/launch.pl opens it, and passes the number of its descriptor.
import { writeSync } from 'node:fs'

export interface Systemd {
  /** Whether it ends the daemon when the event loop hangs, from `ready` on. */
  isWatching: boolean
  ready(status: string): void
  /** `ready` must follow. */
  reloading(): void
  stopping(): void
}

/** How long a start may go on without a sign of the event loop. */
const startMs = 60_000
const retryMs = 100

/** From now on the start may take longer. Without systemd the calls do nothing. */
export function openSystemd(env = process.env): Systemd {
  const descriptor = takeDescriptor(env, 'BERTH_NOTIFY_FD')
  const watchdogMs = descriptor === null ? 0 : Number(env.WATCHDOG_USEC ?? 0) / 1000
  const send = (message: string) => {
    if (descriptor === null) return
    try {
      writeSync(descriptor, message)
    } catch (error) {
      // systemd is behind. Any other failure is one for good.
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') setTimeout(send, retryMs, message).unref()
    }
  }
  const extendStart = () => send(`EXTEND_TIMEOUT_USEC=${startMs * 1000}`)
  extendStart()
  let beat = setInterval(extendStart, startMs / 4).unref()
  return {
    isWatching: watchdogMs > 0,
    ready(status) {
      clearInterval(beat)
      send(`READY=1\nSTATUS=${status}`)
      if (watchdogMs > 0) beat = setInterval(send, watchdogMs / 4, 'WATCHDOG=1').unref()
    },
    reloading: () => send(`RELOADING=1\nMONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`),
    stopping: () => send('STOPPING=1\nSTATUS=stopping'),
  }
}

/** Only for this process: no program that it starts must write there. */
export function takeDescriptor(env: NodeJS.ProcessEnv, name: string): number | null {
  const value = env[name]
  delete env[name]
  return value === undefined ? null : Number(value)
}
