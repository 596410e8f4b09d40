// A real browser for the tests of pages: Debian's Chromium, found or installed, without a window.
// What a page does wrong, and what a policy forbids it, a browser says on its console. A visitor keeps
// that.
import { type Browser, launch, type Page, type Viewport } from 'puppeteer-core'
import { hasApt, isRoot } from '../../src/base-images/apt.ts'
import { hasCommand } from '../../src/base-images/command.ts'
import { withFileLock } from '../../src/base-images/file-lock.ts'
import { messageOf } from '../../src/errors.ts'
import { installPackages } from './apt.ts'
import type { Scope } from './directory.ts'

const program = 'chromium'
const programFile = '/usr/bin/chromium'
const lockFile = '/run/berth-test-chromium.lock'

/** Null when there is a browser, else why there is none. As root it is installed. */
export async function lackOfBrowser(): Promise<string | null> {
  if (hasCommand(program)) return null
  if (!isRoot() || !hasApt()) return `there is no ${program}: sudo apt-get install ${program}`
  try {
    await withFileLock(lockFile, install)
    return null
  } catch (error) {
    return `apt-get could not install ${program}: ${messageOf(error)}`
  }
}

async function install(): Promise<void> {
  if (hasCommand(program)) return
  console.error(`Installing ${program} with apt-get …`)
  await installPackages([program])
}

/** Closed after the test, which removes its profile too. */
export async function openChromium(t: Scope): Promise<Browser> {
  const browser = await launch({
    executablePath: programFile,
    // It does not run as root with its sandbox; the pages that it sees here are ours.
    args: ['--disable-dev-shm-usage', ...(isRoot() ? ['--no-sandbox'] : [])],
  })
  t.after(() => browser.close())
  return browser
}

export interface Screen {
  viewport: Viewport
  scheme: 'light' | 'dark'
}

const touch = { isMobile: true, hasTouch: true, deviceScaleFactor: 2 }
export const smallPhone: Viewport = { ...touch, width: 320, height: 568 }
export const phone: Viewport = { ...touch, width: 390, height: 844 }
export const desktop: Viewport = { width: 1280, height: 800 }

/** Somebody who looks at pages, with cookies of their own. */
export interface Visitor {
  page: Page
  /** What the browser had to say, until now. */
  complaints: string[]
}

export async function openVisitor(browser: Browser, { viewport, scheme }: Screen): Promise<Visitor> {
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  await page.setViewport(viewport)
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  const complaints: string[] = []
  page.on('console', (message) => {
    // Of a form that is refused, which is what the test wanted.
    const isOfPage = message.location().url === page.url()
    if (!isOfPage || !message.text().includes('the server responded with a status of 4'))
      complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { page, complaints }
}

/** Presses what is there, and waits for the page that comes of it. */
export async function press(page: Page, selector: string): Promise<void> {
  await Promise.all([page.waitForNavigation(), page.click(selector)])
}

export function textAt(page: Page, selector: string): Promise<string> {
  return page.$eval(selector, (element) => String(element.textContent))
}
