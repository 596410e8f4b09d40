// How long services are down while their disk moves from one version to the next.

export class Downtimes {
  /** The start in ms since 1970, by service. */
  readonly #startedAt = new Map<string, number>()

  /** Does nothing while a downtime of the service is being measured. */
  begin(serviceId: string): void {
    if (!this.#startedAt.has(serviceId)) this.#startedAt.set(serviceId, Date.now())
  }

  /** Returns the duration; null when there was no downtime. */
  end(serviceId: string): number | null {
    const startedAt = this.#startedAt.get(serviceId)
    this.#startedAt.delete(serviceId)
    return startedAt === undefined ? null : Date.now() - startedAt
  }
}
