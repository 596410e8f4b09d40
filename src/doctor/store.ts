// The store: whether it opens with its key, in the format of this version, and how large it is.
import { size } from '../quantities.ts'
import type { Examined } from './examined.ts'
import { type Finding, finding } from './finding.ts'

export async function checkStore({ config, stored, storeError }: Examined): Promise<Finding[] | string> {
  const path = config['data-dir']
  if (storeError?.code.startsWith('secret_key')) return [finding('key_wrong', { reason: storeError.message })]
  if (storeError?.code === 'store_other_version') {
    return [finding('store_other_version', { reason: storeError.message })]
  }
  if (storeError) return [finding('store_unusable', { path, reason: storeError.message })]
  if (stored === null) return 'no store yet: the first start makes it'
  const { used, map } = stored.usedBytes()
  return `opens with its key; ${size(used)} of data in ${size(map)}`
}
