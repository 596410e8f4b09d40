// Browsers that an app drives where it runs. Debian's is taken, for those of the packages need its libraries.
import type { Choice } from '../../recipe.ts'
import type { App } from './app.ts'

interface Browser {
  packages: string[]
  buildEnv: Record<string, string>
  env: Record<string, string>
  choice: Choice
}

const chromium = '/usr/bin/chromium'
const drivers: Record<string, Pick<Browser, 'env' | 'buildEnv'>> = {
  puppeteer: {
    buildEnv: { PUPPETEER_SKIP_DOWNLOAD: 'true' },
    env: { PUPPETEER_SKIP_DOWNLOAD: 'true', PUPPETEER_EXECUTABLE_PATH: chromium },
  },
  playwright: {
    buildEnv: { PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' },
    env: { PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH: chromium },
  },
}

/** Tests have theirs among the packages for development. */
export function findBrowser({ manifest }: App): Browser | null {
  const name = Object.keys(drivers).find((driver) => driver in manifest.dependencies)
  const driver = name === undefined ? undefined : drivers[name]
  const packages = ['chromium', 'fonts-liberation', 'fonts-noto-color-emoji']
  const choice = { what: 'chromium of Debian', reason: `${name} is a dependency` }
  return driver ? { ...driver, packages, choice } : null
}
