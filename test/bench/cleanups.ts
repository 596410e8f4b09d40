// A stack of cleanups, run one after another in reverse order.
// An interrupt and the part that fails because of it may both start them.

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

  /** Runs cleanups until this many are left. A failure does not stop the others; it is thrown at the end. */
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
