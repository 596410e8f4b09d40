// The output of an SQL file: chunks pass unchanged, except for a statement that is held until it is judged.

/** The largest size of a held statement. */
const bufferLimitBytes = 1024 * 1024
const lineFeed = 10

export class SqlOutput {
  /** Whether the current statement is held. */
  isHolding = true
  private piece: Buffer = Buffer.alloc(0)
  private unsent = 0
  private held: Buffer[] = []
  private heldBytes = 0
  private out: Buffer[] = []
  /** The bytes that pass next. One view for many statements, because views are expensive. */
  private passing = { from: 0, to: 0 }

  take(piece: Buffer): void {
    this.piece = piece
    this.unsent = 0
    this.out = []
    this.passing = { from: 0, to: 0 }
  }

  /** Passes everything up to this offset. */
  send(to: number): void {
    if (this.held.length > 0) {
      this.pass()
      this.out.push(...this.held.splice(0))
    }
    if (this.passing.to !== this.unsent) this.pass()
    this.passing.to = to
    this.heldBytes = 0
    this.unsent = to
  }

  private pass(): void {
    const { from, to } = this.passing
    if (from < to) this.out.push(this.piece.subarray(from, to))
    this.passing = { from: this.unsent, to: this.unsent }
  }

  /** Drops the buffered text and the chunk up to this offset, except line breaks. */
  drop(to: number): void {
    if (!this.isHolding) throw new Error('the statement is too long')
    this.pass()
    const dropped = Buffer.concat([...this.held.splice(0), this.piece.subarray(this.unsent, to)])
    this.out.push(dropped.filter((byte) => byte === lineFeed) as Buffer)
    this.heldBytes = 0
    this.unsent = to
  }

  /** Drops the chunk before this offset. */
  skip(to: number): void {
    this.unsent = to
  }

  /** Returns the output of the finished chunk. The chunk itself is reused by the caller. */
  finish(isHeld: boolean): Buffer[] {
    if (!isHeld || !this.isHolding) this.send(this.piece.length)
    else {
      const rest = Buffer.from(this.piece.subarray(this.unsent))
      this.held.push(rest)
      this.heldBytes += rest.length
      this.unsent = this.piece.length
      if (this.heldBytes > bufferLimitBytes) {
        this.send(this.unsent)
        this.isHolding = false
      }
    }
    this.pass()
    return this.out.filter(({ length }) => length > 0)
  }
}
