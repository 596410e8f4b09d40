// The error class of storage/, which does not import the one in src/.

/** `code` is stable; `message` is for people. */
export class StorageError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'StorageError'
    this.code = code
  }
}
