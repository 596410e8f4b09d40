// Measurable properties of a page's layout: it fits, is legible, and its controls are large enough to touch.
import assert from 'node:assert/strict'
import type { Page } from 'puppeteer-core'
import type { Screen } from '../system/chromium.ts'

const minTouchPx = 40
const minContrast = 4.5

/** Fails with the list of layout problems. */
export async function checkLayout(page: Page, { viewport, scheme }: Screen): Promise<void> {
  const across = await page.$eval('html', (html) => html.scrollWidth)
  assert.ok(across <= viewport.width, `${page.url()} is ${across} px wide`)
  for (const { name, tall, font } of await controlsOf(page)) {
    assert.ok(tall >= minTouchPx, `${name} is ${tall} px tall`)
    assert.equal(font, '16px', `a phone zooms into ${name}`)
  }
  for (const { name, color, grounds } of await textsOf(page)) {
    const ground = grounds.find((one) => one !== 'rgba(0, 0, 0, 0)')!
    const contrast = contrastOf(luminanceOf(color), luminanceOf(ground))
    assert.ok(contrast >= minContrast, `${name}: a contrast of ${contrast}`)
  }
  const [{ grounds } = assert.fail('nothing to read')] = await textsOf(page)
  assert.equal(luminanceOf(grounds.at(-2)!) < 0.5, scheme === 'dark')
}

/** All visible controls. */
function controlsOf(page: Page): Promise<{ name: string; tall: number; font: string }[]> {
  return page.$$eval('input, button, .button', (all) =>
    all
      .filter((one) => one.getClientRects().length > 0)
      .map((one) => ({
        name: one.outerHTML.slice(0, 60),
        tall: one.clientHeight,
        font: String(one.computedStyleMap().get('font-size')),
      })),
  )
}

/** The colours of all texts, with the background behind each. */
function textsOf(page: Page): Promise<{ name: string; color: string; grounds: string[] }[]> {
  return page.$$eval('main *, header a', (all) =>
    all.map((one) => {
      const grounds: string[] = []
      for (let at: typeof one | null = one; at; at = at.parentElement)
        grounds.push(String(at.computedStyleMap().get('background-color')))
      const color = String(one.computedStyleMap().get('color'))
      return { name: one.outerHTML.slice(0, 60), color, grounds }
    }),
  )
}

/** The contrast ratio of the WCAG. */
function contrastOf(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
    const value = Number(part) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
