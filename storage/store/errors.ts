// What the store refuses, by code. storage/ knows nothing of src/, so it has an error of its own.

/** A refusal of the store: `code` is stable, `message` is for people. */
export class StorageError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'StorageError'
    this.code = code
  }
}
