// What is left to do when something is over: the last thing first, one after the other, whoever asks for it.
// An interrupt and the part that fails because of it ask at the same time.

type Cleanup = () => unknown

export class Cleanups {
  private readonly stack: Cleanup[] = []
  private underWay: Promise<void> = Promise.resolve()

  get count(): number {
    return this.stack.length
  }

  add(cleanup: Cleanup): void {
    this.stack.push(cleanup)
  }

  /** Until so many are left. One that fails keeps no other from being done; it is thrown at the end. */
  downTo(count: number): Promise<void> {
    const before = this.underWay.catch(() => undefined)
    this.underWay = before.then(() => this.doAll(count))
    return this.underWay
  }

  private async doAll(count: number): Promise<void> {
    const failures: unknown[] = []
    while (this.stack.length > count) {
      try {
        await this.stack.pop()!()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
