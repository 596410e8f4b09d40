const ticks = 20

/**
 * Like `settleWithin`, for work whose end a blocked event loop cannot see: however long the loop is blocked,
 * that counts as one of 20 parts of the time.
 */
export async function settleWhileRunning<T, U>(
  work: Promise<T>,
  durationMs: number,
  otherwise: U,
): Promise<T | U> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<U>((resolve) => {
    let left = ticks
    const tick = () => --left === 0 && resolve(otherwise)
    timer = setInterval(tick, durationMs / ticks)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearInterval(timer)
  }
}
