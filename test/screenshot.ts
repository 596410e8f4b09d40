// Writes docs/deploy.webp, the picture of the README: the page of a deploy while it builds, on a server of
// its own. By hand: node --import tsx test/screenshot.ts
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'puppeteer-core'
import { launchDaemon } from './support/daemon/daemon.ts'
import { finishedDeploy, pageApp } from './support/daemon/service.ts'
import { ensureDashboard } from './support/dashboard/build.ts'
import { createRepository } from './support/git/repository.ts'
import { owner, signUp } from './support/http/session.ts'
import { openChromium, openVisitor, press } from './support/system/chromium.ts'

const file = fileURLToPath(new URL('../docs/deploy.webp', import.meta.url))
const limitBytes = 150_000
const viewport = { width: 1280, height: 800 }

const cleanups: (() => unknown)[] = []
const scope = { after: (cleanup: () => unknown) => void cleanups.unshift(cleanup) }

/** A small shop. `version` changes each script, so that nothing comes from the build cache. */
async function shop(version: number): Promise<Record<string, string>> {
  const app = await pageApp('Shop')
  const script = (words: string[], each: string, seconds: number) =>
    [`# ${version}`, ...words.map((word) => `echo "${each.replace('*', word)}"; sleep ${seconds}`)].join('\n')
  const build = [
    'COPY scripts scripts',
    'RUN sh scripts/install',
    'RUN sh scripts/test',
    'RUN sh scripts/build',
  ]
  return {
    ...app,
    Dockerfile: app.Dockerfile!.replace('CMD', `${build.join('\n')}\nCMD`),
    'scripts/install': script(['express', 'pino', 'pg', 'stripe', 'zod'], 'added *', 0.2),
    'scripts/test': script(['cart', 'checkout', 'refunds', 'search'], 'ok - *', 0.3),
    'scripts/build': script(['index', 'cart', 'checkout', 'orders'], 'built *.html', 1.5),
  }
}

async function openDeploy(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.type('#email', owner.email)
  await page.type('#password', owner.password)
  await press(page, 'form button')
  await page.waitForSelector('::-p-text(built checkout.html)', { timeout: 60_000 })
}

async function takePicture(): Promise<void> {
  await ensureDashboard()
  const daemon = await launchDaemon({ args: ['--settle-time=2'] })
  scope.after(() => daemon.remove())
  const { api } = daemon
  await signUp(api.url, daemon.dataDir)
  const repository = createRepository(scope, { name: 'shop' })
  repository.commit('Sell things', await shop(1))
  const service = await api.post('/services', {
    name: 'shop',
    type: 'web_service',
    repo_url: repository.directory,
    health_check_path: '/healthz',
    drain_seconds: 0,
  })
  await finishedDeploy(api, service.latest_deploy.id)
  repository.commit('Show the price with tax', await shop(2))
  await finishedDeploy(api, (await api.post('/services/shop/deploys', {})).id)
  await api.call('PATCH', '/services/shop/env', { set: [{ key: 'STRIPE_KEY', value: 'sk_test' }] })
  await api.call('PATCH', '/services/shop', { memory_limit_mb: 256 })
  repository.commit('Fix the cart', await shop(3))
  const { id } = await api.post('/services/shop/deploys', {})
  const { page } = await openVisitor(await openChromium(scope), { viewport, scheme: 'light' })
  await openDeploy(page, `${api.url}/services/shop/deploys/${id}`)
  await page.screenshot({ path: file, type: 'webp', quality: 85 })
}

try {
  await takePicture()
  const { size } = statSync(file)
  process.stdout.write(`docs/deploy.webp: ${size} bytes\n`)
  if (size > limitBytes) throw new Error(`the picture is larger than ${limitBytes} bytes`)
} finally {
  for (const cleanup of cleanups) await cleanup()
}
