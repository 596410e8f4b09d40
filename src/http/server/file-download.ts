// A response body that is too large for memory, sent with backpressure. If the file ends before its announced
// size, the connection is closed, so that no client accepts an incomplete body.
import { Failure } from '../../errors.ts'

interface Socket {
  cork(write: () => void): unknown
  tryEnd(chunk: Uint8Array, totalBytes: number): [isTaken: boolean, isDone: boolean]
  getWriteOffset(): number
  onWritable(listener: (offset: number) => boolean): unknown
  close(): unknown
}

interface PendingWrite {
  piece: Uint8Array
  /** The offset of the chunk in the whole body. */
  offset: number
  resolve: () => void
  reject: (error: Error) => void
}

/** The head must have been written. */
export function createDownloadStream(socket: Socket, totalBytes: number) {
  let isOpen = true
  let waiting: PendingWrite | null = null
  const closeListeners: (() => void)[] = []
  const close = () => {
    if (!isOpen) return
    isOpen = false
    waiting?.reject(clientLeft())
    waiting = null
    for (const listener of closeListeners) listener()
  }
  const send = (piece: Uint8Array): boolean => {
    const [isTaken, isDone] = socket.tryEnd(piece, totalBytes)
    if (isDone) close()
    return isTaken || isDone
  }
  const write = (piece: Uint8Array, resolve: () => void, reject: (error: Error) => void) => {
    if (!isOpen) return reject(clientLeft())
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
    if (send(waiter.piece.subarray(offset - waiter.offset))) waiter.resolve()
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
