// A service under test: a repository with a small app, and waiting for its deploys.
import { setTimeout as sleep } from 'node:timers/promises'
import { busyboxImage } from '../docker/images.ts'
import type { Api, Body } from './api.ts'

const finished = ['live', 'failed', 'canceled', 'deactivated']

/** A Dockerfile on the busybox base image. */
export async function dockerfile(...lines: string[]): Promise<string> {
  return [`FROM ${await busyboxImage()}`, ...lines, ''].join('\n')
}

/** Serves a folder with one page and /healthz by busybox httpd. */
export async function pageApp(text: string, ...more: string[]): Promise<Record<string, string>> {
  return {
    Dockerfile: await dockerfile(
      'COPY www /www',
      ...more,
      'CMD ["sh", "-c", "trap \\"exit 0\\" TERM; httpd -f -p ${PORT} -h /www & wait"]',
    ),
    'www/index.html': text,
    'www/healthz': 'ok',
  }
}

/** Waits until the deploy is live, failed, canceled or deactivated. */
export async function finishedDeploy(api: Api, id: string): Promise<Body> {
  // Most logs end with their deploy: one request that waits costs less than many that ask.
  await logLines(api, id, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined)
  return until(`${id} to finish`, async () => {
    const deploy = await api.get(`/deploys/${id}`)
    return finished.includes(deploy.status) ? deploy : null
  })
}

/** The lines of a deploy's log, followed to the end. */
export async function logLines(
  api: Api,
  deployId: string,
  options: { signal?: AbortSignal } = {},
): Promise<string[]> {
  const lines: string[] = []
  for await (const { event, data } of api.events(`/deploys/${deployId}/logs?follow=true`, options)) {
    if (event === 'end') break
    lines.push(JSON.parse(data).line)
  }
  return lines
}

/** Polls ever more slowly for a result; fails with `what` after five minutes. Errors count as no result. */
export async function until<T>(what: string, look: () => Promise<T | null | undefined | false>): Promise<T> {
  const startedAt = Date.now()
  let last: unknown = null
  for (;;) {
    const found = await look().catch((error: unknown) => {
      last = error
      return null
    })
    if (found) return found
    const waitedMs = Date.now() - startedAt
    if (waitedMs > 300_000) throw new Error(`timed out waiting for ${what}`, { cause: last })
    await sleep(Math.min(120, 30 + waitedMs / 20))
  }
}

/** The response of the live deploy's first instance. */
export async function fetchPage(api: Api, service: string, path = '/'): Promise<string> {
  const { live_deploy_id } = await api.get(`/services/${service}`)
  const { instances } = await api.get(`/services/${service}/status`)
  const live = instances.find((instance: Body) => instance.deploy_id === live_deploy_id)
  const response = await fetch(`http://${live.address}${path}`)
  return response.text()
}
