// The baseline of Docker alone: `docker run` in a terminal until the container responds.
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureEngine } from '../support/docker/engine.ts'
import { run } from '../support/system/command.ts'

export interface ContainerRun {
  image: string
  name: string
  network: string
  /** Fixed, so that it need not be looked up. */
  address: string
  path: string
}

const port = 3000

/** Runs the container, waits for its first response, removes it; returns the response time in ms. */
export async function runContainer({ image, name, network, address, path }: ContainerRun): Promise<number> {
  const options = ['--name', name, '--network', network, '--ip', address]
  const startedAt = performance.now()
  try {
    await docker('run', '--detach', '--rm', ...options, '--env', `PORT=${port}`, image)
    while (!(await answers(`http://${address}:${port}${path}`))) await sleep(5)
    return performance.now() - startedAt
  } finally {
    await removeContainer(name)
  }
}

/** Ignores a missing container. */
export async function removeContainer(name: string): Promise<void> {
  await docker('rm', '--force', '--volumes', name).catch(() => undefined)
}

async function docker(...args: string[]): Promise<void> {
  await run('docker', ['--host', await ensureEngine(), ...args])
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const requested = request(url, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    requested.on('error', () => resolve(false)).end()
  })
}
