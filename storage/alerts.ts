// What alerts need besides their actors: the newest alert of each rule and subject, the settings of rules,
// how far the activity was read, and the addresses from which tokens were used.
import type { Commit, Store } from './store/store.ts'

/** Missing values are those of the rule itself. */
export interface AlertRuleRow {
  enabled?: boolean
  threshold?: number
}

/** The addresses from which a token was used, the last one first. */
const maxAddresses = 20

export type Alerts = ReturnType<typeof openAlerts>

export function openAlerts(store: Store) {
  /** `[rule, subject]` */
  const newest = store.table<string>('alert_subjects')
  /** `[rule, subject]`; the subject '' means all. */
  const rules = store.table<AlertRuleRow>('alert_rules')
  const progress = store.table<number>('alert_progress')
  const addresses = store.table<string[]>('token_addresses')

  return {
    /** The id of the newest alert, ended or not. */
    newest: (rule: string, subject: string) => newest.getOrNull([rule, subject]),
    /** Only inside a commit. */
    setNewest: (_: Commit, rule: string, subject: string, id: string) => newest.put([rule, subject], id),

    /** The number of the last transition that was read; null before the first. */
    progress: () => progress.getOrNull('activity'),
    setProgress: (number: number) => store.commit(() => progress.put('activity', number)),

    rule: (rule: string, subject: string) => rules.getOrNull([rule, subject]),
    *rules(rule: string): Iterable<{ subject: string; row: AlertRuleRow }> {
      for (const { key, value } of rules.validRows({ start: [rule, ''], end: [rule, '\uffff'] }))
        yield { subject: (key as string[])[1]!, row: value }
    },
    /** Null removes the settings. */
    setRule: (rule: string, subject: string, row: AlertRuleRow | null) =>
      store.commit(() => (row ? rules.put([rule, subject], row) : rules.remove([rule, subject]))),

    addressesOf: (token: string) => addresses.getOrNull(token) ?? [],
    /** Only inside a commit. */
    addAddress(_: Commit, token: string, address: string): void {
      const known = (addresses.getOrNull(token) ?? []).filter((one) => one !== address)
      addresses.put(token, [address, ...known].slice(0, maxAddresses))
    },

    /** Removes what belongs to alerts and tokens that are gone. */
    async forget(hasAlert: (id: string) => boolean, hasToken: (id: string) => boolean): Promise<void> {
      const lost = [...newest.validRows()].filter(({ value }) => !hasAlert(value)).map(({ key }) => key)
      const gone = [...addresses.keys()].filter((id) => !hasToken(id as string))
      if (lost.length + gone.length === 0) return
      await store.commit(() => {
        for (const key of lost) newest.remove(key)
        for (const key of gone) addresses.remove(key)
      })
    },
  }
}
