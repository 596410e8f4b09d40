// When deploys reached each state, from their histories in the API.
import type { Api, Body } from '../support/daemon/api.ts'
import type { App } from './app.ts'
import type { DeployTimes } from './evidence.ts'

interface Line {
  at: string
  state: string
}

export async function readTimes(api: Api, service: string, id: string): Promise<DeployTimes> {
  const history: Line[] = await api.get(`/deploys/${id}/history`)
  const first = (state: string) => {
    const line = history.find((one) => one.state === state)
    return line ? Date.parse(line.at) : null
  }
  return {
    id,
    service,
    switchingAt: first('running.switching'),
    liveAt: first('live'),
    drainingAt: first('draining'),
    deactivatedAt: first('deactivated'),
  }
}

/** All deploys of the apps. */
export async function readAllTimes(api: Api, apps: readonly App[]): Promise<DeployTimes[]> {
  const times: DeployTimes[] = []
  for (const { id, name } of apps) {
    const deploys: Body[] = await api.get(`/services/${id}/deploys?limit=500`)
    for (const deploy of deploys) times.push(await readTimes(api, name, deploy.id))
  }
  return times
}
