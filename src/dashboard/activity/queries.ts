// What happened on the server, newest first, in pages.
import type { Activity } from '../../api/activity.ts'
import { listQuery } from '../api/list.ts'

/** What the feed brings has no number yet. */
export type Entry = Omit<Activity, 'number'>

export interface ActivityPage {
  items: Entry[]
  before: string | null
}

export interface ActivityFilter {
  kind?: string
  service?: string
}

export function activityQuery(filter: ActivityFilter) {
  return listQuery<Entry>(['activity', filter], '/activity', { limit: '100', ...filter })
}
