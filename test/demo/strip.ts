// The page of a deploy in a browser, if there is one: what the strip of its progress shows.
import { owner } from '../support/http/session.ts'
import { desktop, openChromium, openVisitor, press } from '../support/system/chromium.ts'
import { hasCommand } from '../support/system/command.ts'

const strip = 'ol[aria-label="Progress"]'

/** `Done Fetching 1.1s`, for each step of the strip; null without a browser. */
export async function readStrip(address: string): Promise<string[] | null> {
  if (!hasCommand('chromium')) return null
  const cleanups: (() => unknown)[] = []
  try {
    const browser = await openChromium({ after: (cleanup) => void cleanups.push(cleanup) })
    const { page } = await openVisitor(browser, { viewport: desktop, scheme: 'light' })
    await page.goto(address)
    await page.type('#email', owner.email)
    await page.type('#password', owner.password)
    await press(page, 'form button')
    await page.waitForSelector(strip)
    return await page.$$eval(`${strip} > li`, (steps) =>
      steps.map(({ children }) =>
        Array.from(children, ({ textContent }) => textContent?.trim())
          .filter(Boolean)
          .join(' '),
      ),
    )
  } finally {
    for (const cleanup of cleanups) await cleanup()
  }
}
