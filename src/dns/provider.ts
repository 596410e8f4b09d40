// A zone that this server may change: where the TXT record of a challenge is published and removed.

export interface TxtRecord {
  /** Without a dot at its end: `_acme-challenge.apps.example.com`. */
  name: string
  value: string
}

/** Both are idempotent: an existing record, or a missing one, is success. They throw `dns_failed`. */
export interface DnsProvider {
  present(record: TxtRecord, signal: AbortSignal): Promise<void>
  /** Removes that value alone: others may have records of the same name. */
  cleanup(record: TxtRecord, signal: AbortSignal): Promise<void>
}
