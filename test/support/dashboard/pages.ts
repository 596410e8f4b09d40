// The pages of the dashboard. A new page is one line here.
import type { Stage } from './stage.ts'
import type { StagedPage } from './visit.ts'

/** By a name for screenshots. */
export function pagesOf({ newest }: Stage): Record<string, StagedPage> {
  const deploy = (name: string, text: string) => ({
    path: `/services/${name}/deploys/${newest[name]}`,
    texts: [text],
  })
  return {
    services: { path: '/services', texts: ['Fix the cart'] },
    overview: { path: '/services/shop', texts: ['Running now'] },
    'overview-degraded': { path: '/services/worker', texts: ['Degraded'] },
    'overview-suspended': { path: '/services/legacy', texts: ['Suspended'] },
    'overview-deleting': { path: '/services/old', texts: ['eleted'] },
    'overview-new': { path: '/services/draft', texts: ['Not deployed'] },
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
