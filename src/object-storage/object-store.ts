// Where backups are kept: a folder (folder.ts) or an S3-compatible bucket (bucket.ts). An object is written
// as a whole or not at all: it gets its name when it is complete. Who writes one reads it back with `get`,
// and calls it good only when size and hash are those that `put` returned.
//
//   const { sizeBytes, sha256 } = await store.put('server/2026-01-02.age', content, signal)
//   for await (const piece of (await store.get('server/2026-01-02.age', signal)).content) …

export interface ObjectStore {
  /**
   * Replaces the object of that name. If the content throws, that error is thrown, and nothing is left. A
   * kill may leave a part under no name: the next `put` or `remove` of the same name removes it.
   */
  put(
    name: string,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
    size?: ExpectedSize,
  ): Promise<ObjectFacts>
  /** Throws `backup_failed` if there is no such object. */
  get(name: string, signal: AbortSignal): Promise<StoredObject>
  /** Complete objects whose names begin with the prefix, in no order. */
  list(prefix: string, signal: AbortSignal): AsyncIterable<ListedObject>
  /** Also removes unfinished parts. A missing object is no error. */
  remove(name: string, signal: AbortSignal): Promise<void>
  /** For people: a path, or `s3://bucket/key`. */
  locationOf(name: string): string
}

export interface ObjectFacts {
  sizeBytes: number
  sha256: string
}

/** A guess, which may be wrong: larger objects are sent in larger pieces. */
interface ExpectedSize {
  expectedBytes?: number
}

export interface StoredObject {
  sizeBytes: number
  content: AsyncIterable<Uint8Array>
}

export interface ListedObject {
  name: string
  sizeBytes: number
  changedAt: string
}
