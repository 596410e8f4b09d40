/** Settles like the work, or resolves with `otherwise` after the time. The work itself continues. */
export async function settleWithin<T, U>(work: Promise<T>, durationMs: number, otherwise: U): Promise<T | U> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<U>((resolve) => {
    timer = setTimeout(resolve, durationMs, otherwise)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
