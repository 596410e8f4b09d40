// A DNS zone: where the TXT record of a challenge is published and removed.

export interface TxtRecord {
  /** Without a final dot: `_acme-challenge.apps.example.com`. */
  name: string
  value: string
}

/** Both are idempotent: an existing record, or a missing one, is success. They throw `dns_failed`. */
export interface DnsProvider {
  present(record: TxtRecord, signal: AbortSignal): Promise<void>
  /** Removes only that value: other records with the same name stay. */
  cleanup(record: TxtRecord, signal: AbortSignal): Promise<void>
}
