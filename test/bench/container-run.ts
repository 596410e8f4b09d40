// What Docker itself takes: `docker run` in a terminal, until the container answers.
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '../../src/base-images/command.ts'
import { ensureEngine } from '../support/engine.ts'

export interface ContainerRun {
  image: string
  name: string
  network: string
  /** Known before, so that nobody has to ask for it. */
  address: string
  path: string
}

const port = 3000

/** Runs the container, waits for its first answer, removes it; how long the answer took, in milliseconds. */
export async function runContainer({ image, name, network, address, path }: ContainerRun): Promise<number> {
  const place = ['--name', name, '--network', network, '--ip', address]
  const startedAt = performance.now()
  try {
    await docker('run', '--detach', '--rm', ...place, '--env', `PORT=${port}`, image)
    while (!(await answers(`http://${address}:${port}${path}`))) await sleep(5)
    return performance.now() - startedAt
  } finally {
    await removeContainer(name)
  }
}

/** Also one that is not there. */
export async function removeContainer(name: string): Promise<void> {
  await docker('rm', '--force', '--volumes', name).catch(() => undefined)
}

async function docker(...args: string[]): Promise<void> {
  await run('docker', ['--host', await ensureEngine(), ...args])
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(url, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    asked.on('error', () => resolve(false)).end()
  })
}
