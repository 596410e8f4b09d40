// Why live deploys are degraded. Each round of the upkeep reports the reason again, so it is not stored.

export class DegradedReasons {
  readonly #reasons = new Map<string, string>()

  report(deployId: string, reason: string): void {
    this.#reasons.set(deployId, reason)
  }

  clear(deployId: string): void {
    this.#reasons.delete(deployId)
  }

  /** null when nothing is wrong, or nothing was reported yet. */
  of(deployId: string): string | null {
    return this.#reasons.get(deployId) ?? null
  }
}
