// Turns samples into a verdict that does not change with each of them. In memory: after a restart it takes as
// many samples as at the start.

export type Sample = 'bad' | 'between' | 'good'

export interface Span {
  /** How many of the last samples count, */
  of: number
  /** and how many of them must agree. */
  need: number
}

export class Hysteresis {
  readonly #samples = new Map<string, Sample[]>()
  #touched = new Set<string>()

  /** Null while the samples disagree, or are too few. */
  add(key: string, sample: Sample, { of, need }: Span): 'broken' | 'kept' | null {
    const samples = [...(this.#samples.get(key) ?? []), sample].slice(-of)
    this.#samples.set(key, samples)
    this.#touched.add(key)
    const count = (wanted: Sample) => samples.filter((one) => one === wanted).length
    if (count('bad') >= need) return 'broken'
    return count('good') >= need ? 'kept' : null
  }

  /** Forgets what was not sampled since the last call. */
  sweep(): void {
    for (const key of this.#samples.keys()) if (!this.#touched.has(key)) this.#samples.delete(key)
    this.#touched = new Set()
  }
}
