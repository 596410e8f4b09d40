// A response body that is too large for memory, sent with backpressure. If it ends before its announced size,
// or without `finish`, the connection is closed, so that no client accepts an incomplete body. A reader that
// leaves no room for a minute is cut.
import { Failure } from '../../errors.ts'

interface Socket {
  cork(write: () => void): unknown
  tryEnd(chunk: Uint8Array, totalBytes: number): [isTaken: boolean, isDone: boolean]
  write(chunk: Uint8Array): boolean
  end(): unknown
  getWriteOffset(): number
  onWritable(listener: (offset: number) => boolean): unknown
  pause(): unknown
  resume(): unknown
  close(): unknown
}

interface PendingWrite {
  piece: Uint8Array
  /** The offset of the chunk in the whole body. */
  offset: number
  resolve: () => void
  reject: (error: Error) => void
}

const tickMs = 5000
const maxBlockedTicks = 12

/** The head must have been written. The size is null if it is not known. */
export function createDownloadStream(socket: Socket, totalBytes: number | null) {
  let isOpen = true
  let waiting: PendingWrite | null = null
  let blockedTicks = 0
  const timer = setInterval(() => {
    if (waiting === null || ++blockedTicks >= maxBlockedTicks) return
    // This restarts the timeout of uWS: 10 s, too short for a slow reader.
    socket.pause()
    socket.resume()
  }, tickMs)
  const closeListeners: (() => void)[] = []
  const close = () => {
    if (!isOpen) return
    isOpen = false
    clearInterval(timer)
    waiting?.reject(clientLeft())
    waiting = null
    for (const listener of closeListeners) listener()
  }
  const send = (piece: Uint8Array): boolean => {
    // uWS keeps what the network does not take.
    if (totalBytes === null) return socket.write(piece)
    const [isTaken, isDone] = socket.tryEnd(piece, totalBytes)
    if (isDone) close()
    return isTaken || isDone
  }
  const write = (piece: Uint8Array, resolve: () => void, reject: (error: Error) => void) => {
    if (!isOpen) return reject(clientLeft())
    blockedTicks = 0
    socket.cork(() => {
      const offset = socket.getWriteOffset()
      if (send(piece)) resolve()
      else waiting = { piece, offset, resolve, reject }
    })
  }
  socket.onWritable((offset) => {
    const waiter = waiting
    if (!isOpen || waiter === null) return true
    waiting = null
    blockedTicks = 0
    if (totalBytes === null || send(waiter.piece.subarray(offset - waiter.offset))) waiter.resolve()
    else waiting = waiter
    return waiting === null
  })
  return {
    /** Resolves when the next piece can be written. One call at a time. Throws `client_left`. */
    write: (piece: Uint8Array) => new Promise<void>((resolve, reject) => write(piece, resolve, reject)),
    /** Called once, when the body is complete or aborted. */
    onClose(listener: () => void): void {
      if (isOpen) closeListeners.push(listener)
      else listener()
    },
    /** The body is complete. Does nothing for an announced size. */
    finish(): void {
      if (!isOpen || totalBytes !== null) return
      close()
      socket.cork(() => socket.end())
    },
    /** Closes the connection unless the body is complete. */
    end(): void {
      if (!isOpen) return
      close()
      socket.close()
    },
    /** The client has disconnected. uWS forbids any further use of the socket. */
    abort: close,
  }
}

export type DownloadStream = ReturnType<typeof createDownloadStream>

function clientLeft(): Failure {
  return new Failure('client_left', 'the client disconnected before the end of the file')
}
