// What every page must survive: no answer, a failure, nothing to show, a status of a later version.
import type { Stage } from './stage.ts'
import type { StagedPage } from './visit.ts'

const problem = (status: number, code: string, detail: string, hint: string) => ({
  status,
  body: { type: 'about:blank', title: code, status, code, detail, hint, request_id: 'the-request-id' },
})
const broken = problem(500, 'internal_error', 'the store could not be read', 'berth doctor checks the server')
const brokenTexts = ['The store could not be read', 'berth doctor', 'Try again', 'the-request-id']
const full = problem(507, 'insufficient_storage', 'the disk is too full', 'berth cleanup frees space')
const away = problem(503, 'docker_unavailable', 'the Docker engine did not respond', 'check that Docker runs')

/** By a name for screenshots. */
export async function statesOf({ call, newest }: Stage): Promise<Record<string, StagedPage>> {
  const read = async (path: string) => (await call('GET', `/api/v1${path}`)).body
  const services = (await read('/services')) as unknown as Record<string, unknown>[]
  const unknown = { ...services.find(({ name }) => name === 'shop'), state: 'out_to_lunch' }
  const deploy = `/deploys/${newest.shop}`
  const deployPage = `/services/shop${deploy}`
  const strange = { ...(await read(deploy)), status: 'out_to_lunch' }
  return {
    'services-loading': { path: '/services', texts: ['Services'], answers: { '/services': null } },
    'services-empty': { path: '/services', texts: ['berth up'], answers: { '/services': { body: [] } } },
    'services-broken': { path: '/services', texts: brokenTexts, answers: { '/services': broken } },
    'services-unknown': {
      path: '/services',
      texts: ['Out to lunch'],
      answers: { '/services': { body: [unknown] } },
    },
    'services-stale': { path: '/services', texts: ['Reconnecting'], answers: { '/events': 'break' } },
    'services-no-match': { path: '/services?q=nothing', texts: ['nothing'] },
    'overview-loading': { path: '/services/shop', texts: ['Services'], answers: { '/services/shop': null } },
    'overview-broken': { path: '/services/shop', texts: brokenTexts, answers: { '/services/shop': broken } },
    'overview-unknown': {
      path: '/services/shop',
      texts: ['Out to lunch'],
      answers: { '/services/shop': { body: unknown } },
    },
    'overview-without-docker': {
      path: '/services/shop',
      texts: ['Docker'],
      answers: { '/services/svc-1/status': away },
    },
    'overview-disk-full': {
      path: '/services/shop',
      texts: ['Running now'],
      answers: { 'POST /services/shop/deploys': full, 'POST /services/svc-1/deploys': full },
      press: ['Deploy'],
      shows: ['The disk is too full', 'the-request-id'],
    },
    'overview-missing': { path: '/services/nope', texts: ['Not found', 'berth services'], answers: {} },
    'deploy-loading': { path: deployPage, texts: ['Services'], answers: { [deploy]: null } },
    'deploy-broken': { path: deployPage, texts: brokenTexts, answers: { [deploy]: broken } },
    'actor-broken': {
      path: `/charts/deploy/${newest.shop}`,
      texts: brokenTexts,
      answers: { [`/actors/${newest.shop}/history`]: broken },
    },
    'kind-broken': { path: '/charts/deploy', texts: brokenTexts, answers: { '/machines': broken } },
    'deploy-unknown': { path: deployPage, texts: ['Out to lunch'], answers: { [deploy]: { body: strange } } },
    'deploy-missing': { path: '/services/shop/deploys/dep-nope', texts: ['Not found'], answers: {} },
    'page-missing': { path: '/services/shop/nothing', texts: ['Not found'] },
  }
}
