// Limits the lines about instances in each service's log, because a crash loop must not displace the
// instances' own output. Lines beyond the limit are counted, and the count is one line.

const burst = 20
const refillMs = 10_000

export interface LineBudget {
  /** Writes the line now, or counts it. */
  spend(serviceId: string, write: () => void): void
  close(): void
}

interface Account {
  tokens: number
  at: number
  omitted: number
  timer: NodeJS.Timeout | null
}

/** `summarize` writes one line in place of `count` others. */
export function createLineBudget(
  summarize: (serviceId: string, count: number) => void,
  now: () => number = Date.now,
): LineBudget {
  const accounts = new Map<string, Account>()

  function refill(account: Account): void {
    const gained = Math.floor((now() - account.at) / refillMs)
    account.tokens = Math.min(burst, account.tokens + gained)
    account.at += gained * refillMs
  }

  function flush(serviceId: string, account: Account): void {
    account.timer = null
    if (account.omitted > 0) summarize(serviceId, account.omitted)
    account.omitted = 0
    // A full account needs no entry.
    refill(account)
    if (account.tokens === burst) accounts.delete(serviceId)
  }

  return {
    spend(serviceId, write) {
      const account = accounts.get(serviceId) ?? { tokens: burst, at: now(), omitted: 0, timer: null }
      accounts.set(serviceId, account)
      refill(account)
      account.timer ??= setTimeout(() => flush(serviceId, account), burst * refillMs).unref()
      if (account.tokens > 0) {
        account.tokens -= 1
        write()
      } else account.omitted += 1
    },
    close() {
      for (const { timer } of accounts.values()) if (timer) clearTimeout(timer)
      accounts.clear()
    },
  }
}
