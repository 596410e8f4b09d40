// What to do about a deploy that did not go live.
import type { Deploy } from '../schemas/deploy.ts'
import type { Service } from '../schemas/service.ts'
import { type Advice, advise, detailOf, type Failed, inTurn } from './advice.ts'

export type FailedDeploy = Failed & Pick<Deploy, 'source'>
type Deployed = Pick<Service, 'name' | 'type'>

/** Null for a deploy that has not failed. */
export function adviseOnDeploy(deploy: FailedDeploy, service: Deployed): Advice | null {
  const { error_code: code } = deploy
  if (!code) return null
  const { name } = service
  switch (code) {
    case 'superseded': {
      const follow = `berth logs --deploy ${detailOf(deploy, 'deploy_id', 'DEPLOY')} -f`
      return advise(`the newer deploy goes on: ${follow}`, follow)
    }
    case 'canceled':
      return advise(`berth deploy ${name} begins anew`, `berth deploy ${name}`)
    case 'exited_early':
      return adviseOnPages(deploy, service) ?? retry(deploy, name)
    case 'health_check_failed':
      return adviseOnCheck(deploy, service)
    case 'out_of_memory': {
      const command = `berth update ${name} --memory 1024`
      return advise(`give it more: ${command}`, command)
    }
    default:
      return adviseOnSource(deploy, name) ?? adviseOnServer(code, name) ?? retry(deploy, name)
  }
}

function adviseOnSource(deploy: FailedDeploy, name: string): Advice | null {
  switch (deploy.error_code) {
    case 'dockerfile_not_found':
      return advise('its log has a Dockerfile to start from')
    case 'source_not_found': {
      const branch = detailOf(deploy, 'default_branch', '')
      return branch === '' ? null : inTurn(`berth update ${name} --branch ${branch}`, `berth deploy ${name}`)
    }
    case 'site_not_found': {
      const command = `berth update ${name} --publish-dir ${detailOf(deploy, 'folder', 'FOLDER')}`
      return advise(command, command)
    }
    case 'git_remote_unreachable':
      return advise(`berth show ${name} says where the source is`, `berth show ${name}`)
    case 'build_failed':
      return adviseOnBuild(deploy)
    default:
      return null
  }
}

function adviseOnBuild(deploy: FailedDeploy): Advice | null {
  switch (detailOf(deploy, 'reason', '')) {
    case 'registry_credentials':
      return credentials
    case 'build_memory':
      return advise('builds need a higher --build-memory-limit of berthd, or no limit')
    default:
      return null
  }
}

const credentials = advise('berth registries keeps credentials', 'berth registries add HOST')

function adviseOnServer(code: string, name: string): Advice | null {
  switch (code) {
    case 'builder_hangs':
      return advise('a restart of the Docker engine ends this, and interrupts every service')
    case 'unresolved_reference':
      return advise(`berth env ${name} shows its variables`, `berth env ${name}`)
    case 'registry_unauthorized':
      return credentials
    case 'image_gone':
      return advise(`berth deploy ${name} builds it anew`, `berth deploy ${name}`)
    case 'insufficient_storage':
      return advise('make room on the server, then deploy again', 'berth disks', `berth deploy ${name}`)
    default:
      return null
  }
}

function adviseOnCheck(deploy: FailedDeploy, { name }: Deployed): Advice {
  const port = detailOf(deploy, 'port', '$PORT')
  switch (detailOf(deploy, 'reason', '')) {
    case 'listens_locally':
      return advise('listen at 0.0.0.0 instead of 127.0.0.1: many programs take --host 0.0.0.0')
    case 'wrong_port':
      return inTurn(`berth update ${name} --port ${port}`, again(deploy, name))
    case 'nothing_listens': {
      const command = `berth update ${name} --port N`
      return advise(`listen on $PORT at 0.0.0.0, or: ${command}`, command)
    }
    case 'image_healthcheck':
      return advise('its command in the Dockerfile has to exit with 0 in the running container')
    default: {
      const command = `berth update ${name} --health-path PATH`
      return advise(`it must answer 2xx or 3xx: ${command}`, command)
    }
  }
}

/** A Dockerfile that only builds pages ends early. The type of a service is fixed, so a new one is needed. */
function adviseOnPages({ source }: FailedDeploy, { name, type }: Deployed): Advice | null {
  if (type !== 'web_service') return null
  const site = `${name}-site`
  const create = `berth create ${site} --type static_site --publish-dir FOLDER`
  const words = 'if its Dockerfile only builds pages, have FOLDER of its last stage served: '
  if (source.kind === 'archive') {
    const upload = `berth up ${site}`
    return advise(`${words}${create}, then: ${upload}`, create, upload)
  }
  return source.kind === 'git' ? advise(`${words}${create} --repo URL`, `${create} --repo URL`) : null
}

function retry(deploy: FailedDeploy, name: string): Advice {
  const command = again(deploy, name)
  return advise(`fix it, then: ${command}`, command)
}

function again({ source }: FailedDeploy, name: string): string {
  return `berth ${source.kind === 'archive' ? 'up' : 'deploy'} ${name}`
}
