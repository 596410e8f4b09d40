// The open alerts, which every page counts.
import { queryOptions } from '@tanstack/react-query'
import type { Alert } from '../../api/alert.ts'
import { get } from '../api/client.ts'

export const openAlertsQuery = queryOptions({
  queryKey: ['alerts', 'open'],
  queryFn: get<Alert[]>('/alerts?limit=500'),
})
