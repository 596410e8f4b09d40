// What an actor does, live, over a WebSocket that is opened again after each break. What happens during a
// break is lost: the server keeps none of it.
import type { InspectMessage } from '../../api/inspect.ts'

interface InspectionListener {
  message(message: InspectMessage): void
  /** Called when the connection opens, and once when it is lost. */
  connected(isConnected: boolean): void
}

const firstPauseMs = 1_000
const longestPauseMs = 15_000

/** Returns a function that ends it. */
export function inspectActor(actorId: string, listener: InspectionListener): () => void {
  let socket: WebSocket
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let isEnded = false

  function connect(): void {
    const { protocol, host } = location
    const path = `/api/v1/inspect?actor=${encodeURIComponent(actorId)}`
    socket = new WebSocket(`${protocol === 'https:' ? 'wss' : 'ws'}://${host}${path}`)
    socket.onopen = () => {
      failures = 0
      listener.connected(true)
    }
    socket.onmessage = ({ data }) => listener.message(JSON.parse(data) as InspectMessage)
    socket.onclose = () => {
      if (isEnded) return
      if (failures === 0) listener.connected(false)
      timer = setTimeout(connect, Math.min(longestPauseMs, firstPauseMs * 2 ** failures++))
    }
  }

  connect()
  return () => {
    isEnded = true
    clearTimeout(timer)
    socket.close()
  }
}
