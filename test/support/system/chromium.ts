// A real browser for tests of pages: Debian's Chromium, installed if necessary, without a window.
// A visitor records console messages, where the browser reports script errors and violations of the CSP.
import { type Browser, launch, type Page, type Viewport } from 'puppeteer-core'
import { messageOf } from '../../../src/errors.ts'
import { hasApt, installPackages, isRoot } from './apt.ts'
import { hasCommand } from './command.ts'
import type { Scope } from './directory.ts'
import { withFileLock } from './file-lock.ts'

const program = 'chromium'
const programFile = '/usr/bin/chromium'
const lockFile = '/run/berth-test-chromium.lock'

/** Null if a browser is available, else the reason. Installs it when run as root. */
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

/** Each new context would load its pages, which take more time than ours. */
const withoutAddressBar = '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup'

/** Closed after the test, which also removes its profile. */
export async function openChromium(t: Scope, more: string[] = []): Promise<Browser> {
  const browser = await launch({
    executablePath: programFile,
    // Its sandbox does not work as root; it only opens pages of this repository.
    args: ['--disable-dev-shm-usage', withoutAddressBar, ...(isRoot() ? ['--no-sandbox'] : []), ...more],
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

/** A visitor with separate cookies. */
export interface Visitor {
  page: Page
  /** Console messages so far. */
  complaints: string[]
}

export async function openVisitor(browser: Browser, { viewport, scheme }: Screen): Promise<Visitor> {
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  await page.setViewport(viewport)
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  const complaints: string[] = []
  page.on('console', (message) => {
    // Logged when a form is rejected, which these tests provoke.
    const isOfPage = message.location().url === page.url()
    const isRejection = isOfPage && message.text().includes('the server responded with a status of 4')
    // The Docker networks of other tests come and go. What the browser drops then, the page reads again.
    const isOfHost = message.text().includes('net::ERR_NETWORK_CHANGED')
    if (!isRejection && !isOfHost) complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { page, complaints }
}

/** Clicks the element and waits for the next page. */
export async function press(page: Page, selector: string): Promise<void> {
  await Promise.all([page.waitForNavigation(), page.click(selector)])
}

export function textAt(page: Page, selector: string): Promise<string> {
  return page.$eval(selector, (element) => String(element.textContent))
}
