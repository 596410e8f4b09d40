// The pages of the dashboard. A new page is one line here.
import type { Stage } from './stage.ts'

export interface StagedPage {
  path: string
  /** Shown when the page is complete. */
  text: string
}

/** By a name for screenshots. */
export function pagesOf({ newest }: Stage): Record<string, StagedPage> {
  const deploy = (name: string, text: string) => ({
    path: `/services/${name}/deploys/${newest[name]}`,
    text,
  })
  return {
    services: { path: '/services', text: 'Fix the cart' },
    overview: { path: '/services/shop', text: 'Running now' },
    'overview-degraded': { path: '/services/worker', text: 'Degraded' },
    'overview-suspended': { path: '/services/legacy', text: 'Suspended' },
    'overview-deleting': { path: '/services/old', text: 'eleted' },
    'overview-new': { path: '/services/draft', text: 'Not deployed' },
    'deploy-live': deploy('shop', 'Fix the cart'),
    'deploy-queued': deploy('queued', 'Queued'),
    'deploy-slot': deploy('slot', 'Building'),
    'deploy-building': deploy('api', 'Building'),
    'deploy-pulling': deploy('pulling', 'Pulling'),
    'deploy-preparing': deploy('preparing', 'Preparing'),
    'deploy-checking': deploy('checking', 'Checking'),
    'deploy-failed': deploy('landing', 'exited with code'),
    'deploy-unhealthy': deploy('blog', 'returned 503'),
    'deploy-canceled': deploy('withdrawn', 'Canceled'),
    'deploy-parked': deploy('parked', 'x is not a function'),
    'deploy-rollback': deploy('returned', 'restarted'),
  }
}
