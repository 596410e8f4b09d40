// Whether a connection still has somebody at its other end: a server that is gone without a word would be
// waited for without an end.
// Mind: what is paused on purpose hears nothing, and is not silent.
import type { WebSocket } from 'ws'

const pingEveryMs = 20_000
const mostUnheard = 3

/** Asks every 20 s; calls `onSilence` when nothing at all came for a minute. Returns what ends it. */
export function watchSilence(
  socket: Pick<WebSocket, 'on' | 'ping' | 'isPaused'>,
  onSilence: () => void,
): () => void {
  let unheard = 0
  const hear = () => {
    unheard = 0
  }
  for (const event of ['message', 'ping', 'pong'] as const) socket.on(event, hear)
  const pinging = setInterval(() => {
    if (socket.isPaused) hear()
    if (unheard === mostUnheard) return onSilence()
    unheard += 1
    socket.ping()
  }, pingEveryMs)
  return () => clearInterval(pinging)
}
