// Content that is pushed, as by a program that writes, becomes an object.
import { PassThrough } from 'node:stream'

/**
 * The object is complete only if `produce` resolves. Throws the failure that came first: that of the store,
 * or that of `produce`, which `put` passes on.
 */
export async function putPushed<Result>(
  put: (content: AsyncIterable<Uint8Array>) => Promise<Result>,
  produce: (push: (piece: Uint8Array) => Promise<void>) => Promise<unknown>,
): Promise<Result> {
  const pipe = new PassThrough()
  // An error also comes out of `put`, which reads the pipe.
  pipe.on('error', () => undefined)
  const stored = put(pipe)
  stored.catch((error: Error) => pipe.destroy(error))
  const push = (piece: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      pipe.write(piece, (error) => (error ? reject(error) : resolve()))
    })
  try {
    await produce(push)
    pipe.end()
  } catch (error) {
    pipe.destroy(error as Error)
    await stored
    throw error
  }
  return stored
}
