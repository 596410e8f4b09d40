// The pages of the dashboard. A new page is one line here.
import { auditEntries, channels, deliveries, doctorReport, places } from './server-records.ts'
import type { Stage } from './stage.ts'
import type { StagedPage } from './visit.ts'

/** By a name for screenshots. */
export function pagesOf({ newest }: Stage): Record<string, StagedPage> {
  const deploy = (name: string, text: string) => ({
    path: `/services/${name}/deploys/${newest[name]}`,
    texts: [text],
  })
  return {
    services: { path: '/services', texts: ['Fix the cart', 'Parked while switching'] },
    overview: { path: '/services/shop', texts: ['Running now'] },
    'overview-degraded': { path: '/services/worker', texts: ['Degraded'] },
    'overview-suspended': { path: '/services/legacy', texts: ['Suspended'] },
    'overview-deleting': { path: '/services/old', texts: ['eleted'] },
    'overview-new': { path: '/services/draft', texts: ['Not deployed'] },
    deploys: { path: '/services/shop/deploys', texts: ['Begin the shop'] },
    'deploys-none': { path: '/services/draft/deploys', texts: ['berth up draft'] },
    logs: { path: '/services/shop/logs', texts: ['GET /cart'] },
    'logs-access': { path: '/services/shop/logs?kind=access&status=5', texts: ['GET /late'] },
    jobs: { path: '/services/nightly/jobs', texts: ['npm run report'] },
    'jobs-none': { path: '/services/shop/jobs', texts: ['berth run shop'] },
    'run-running': {
      path: `/services/nightly/jobs/${newest['run schedule']}`,
      texts: ['Writing report.csv'],
    },
    'run-pending': {
      path: `/services/nightly/jobs/${newest['run manual']}`,
      texts: ['Waiting for its turn'],
    },
    'delete-dialog': {
      path: '/services/shop',
      texts: ['Running now'],
      press: ['⋯', 'Delete…'],
      shows: ['shop'],
    },
    'deploy-chart': { path: `/services/shop/deploys/${newest.shop}?chart=true`, texts: ['Fix the cart'] },
    'deploy-live': deploy('shop', 'Fix the cart'),
    'deploy-past': {
      path: `/services/shop/deploys/${newest.shop}?at=3&chart=true`,
      texts: ['Back to now', 'Fetching source succeeded'],
    },
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
    charts: { path: '/charts', texts: ['actors are parked'] },
    'charts-parked': { path: '/charts?parked=true', texts: ['x is not a function'] },
    'chart-deploy': { path: '/charts/deploy', texts: ['Copy as Mermaid'] },
    'chart-datastore': { path: '/charts/datastore', texts: ['wanted.life.available'] },
    actor: { path: `/charts/deploy/${newest.api}`, texts: ['Cancel deploy'] },
    'actor-past': { path: `/charts/deploy/${newest.shop}?at=3`, texts: ['Back to now'] },
    'actor-parked': { path: `/charts/deploy/${newest.parked}`, texts: ['Copy report'] },
    alerts: { path: '/alerts', texts: ['almost full', 'Over since'] },
    doctor: { path: '/server', texts: ['secret_key'], answers: { '/doctor': { body: doctorReport } } },
    'server-backups': { path: '/server/backups', texts: ['Stored', 'Download'] },
    'backup-places': {
      path: '/server/places',
      texts: ['offsite, the default'],
      answers: { '/backup-places': { body: places } },
    },
    notifications: {
      path: '/server/notifications',
      texts: ['on-call', 'stands for 7'],
      answers: {
        '/notification-channels': { body: channels },
        '/notification-deliveries': { body: deliveries },
      },
    },
    'notifications-new': {
      path: '/server/notifications',
      texts: ['There are no channels'],
      press: ['Add channel'],
      shows: ['Problems only'],
    },
    audit: {
      path: '/server/audit',
      texts: ['STRIPE_KEY', 'forbidden'],
      answers: { '/audit': { body: auditEntries } },
    },
    activity: { path: '/activity?kind=deploy', texts: ['Building image succeeded'] },
  }
}
