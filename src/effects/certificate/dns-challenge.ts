// Answers challenges by TXT records in the operator's zone. Each record is in a file from before its
// publication until its removal, so the sweep at the next start removes what a crash left.
import { createHash } from 'node:crypto'
import pLimit from 'p-limit'
import type { StoredTxtRecord } from '../../../storage/certificates.ts'
import type { Storage } from '../../../storage/index.ts'
import { followAliases, type Lookup, waitForRecord } from '../../dns/propagation.ts'
import type { DnsProvider } from '../../dns/provider.ts'
import type { Challenges } from '../../edge/acme/order.ts'
import { messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'

export interface DnsPorts {
  provider: DnsProvider
  lookup: Lookup
}

export interface DnsChallenges {
  /** The challenges of one order. The host may be a wildcard. */
  challengesOf(host: string, signal: AbortSignal): Challenges
  /** Removes the records that no order needs, now and every ten minutes. The returned function stops this. */
  startSweep(): () => void
}

interface Parts {
  logger: Logger
  storage: Pick<Storage, 'certificates'>
}

const sweepIntervalMs = 10 * 60_000
/** An order that is canceled still removes its record. */
const cleanupTimeoutMs = 60_000

export function createDnsChallenges(
  { logger, storage: { certificates } }: Parts,
  { provider, lookup }: DnsPorts,
): DnsChallenges {
  const needed = new Map<string, StoredTxtRecord>()
  // Changes to the zone: a removal must not overtake the publication of the same record.
  const oneAtATime = pLimit(1)

  async function cleanUp(record: StoredTxtRecord): Promise<void> {
    if ([...needed.values()].some((one) => one.name === record.name && one.value === record.value)) return
    await provider.cleanup(record, AbortSignal.timeout(cleanupTimeoutMs))
    certificates.removeTxtRecord(record)
  }

  /** The sweep repeats a failed removal. */
  const remove = (record: StoredTxtRecord) =>
    oneAtATime(() => cleanUp(record)).catch((error: unknown) =>
      logger.warn({ record: record.name, reason: messageOf(error) }, 'a TXT record cannot be removed yet'),
    )

  async function sweep(): Promise<void> {
    try {
      for (const record of certificates.txtRecords()) await remove(record)
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'the list of TXT records cannot be read')
    }
  }

  return {
    challengesOf: (host, signal) => ({
      type: 'dns-01',
      async put(token, keyAuthorization) {
        const name = await followAliases(`_acme-challenge.${host.replace(/^\*\./, '')}`, lookup)
        const record = { name, value: createHash('sha256').update(keyAuthorization).digest('base64url') }
        needed.set(token, record)
        certificates.saveTxtRecord(record)
        await oneAtATime(() => provider.present(record, signal))
        await waitForRecord(record, lookup, signal)
      },
      async drop(token) {
        const record = needed.get(token)
        needed.delete(token)
        if (record) await remove(record)
      },
    }),

    startSweep() {
      void sweep()
      const timer = setInterval(() => void sweep(), sweepIntervalMs).unref()
      return () => clearInterval(timer)
    },
  }
}
