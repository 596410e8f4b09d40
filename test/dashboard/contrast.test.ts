// Every text and every mark of the dashboard has enough contrast with what is behind it, in both themes.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

type Color = [lightness: number, chroma: number, hue: number]

const css = readFileSync(new URL('../../src/dashboard/look/tokens.css', import.meta.url), 'utf8')
const oklch = String.raw`oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)`
const pattern = new RegExp(String.raw`--([\w-]+): light-dark\(${oklch}, ${oklch}\);`, 'g')

const tokens = Object.fromEntries(
  [...css.matchAll(pattern)].map(([, name, ...numbers]) => {
    const [l, c, h, ...dark] = numbers.map(Number)
    return [name!, { light: [l, c, h] as Color, dark: dark as Color }]
  }),
)

const surfaces = ['sheet', 'ground', 'sunk']
const texts = ['text', 'quiet', 'accent', 'accent-strong', 'healthy', 'unhealthy', 'failed']
/** What is shown on what, and the least contrast by WCAG: 4.5 for text, 3 for edges and marks. */
const pairs: [shown: string, grounds: string[], least: number][] = [
  ...texts.map((name): [string, string[], number] => [name, surfaces, 4.5]),
  ['on-accent', ['accent'], 4.5],
  ...['unhealthy', 'failed'].map((name): [string, string[], number] => [name, [`${name}-ground`], 4.5]),
  ['accent', ['working-ground'], 4.5],
  ['text', ['working-ground', 'unhealthy-ground', 'failed-ground'], 4.5],
  ['edge', ['sheet', 'ground'], 3],
  ['focus', surfaces, 3],
]

for (const theme of ['light', 'dark'] as const)
  test(`the ${theme} theme has enough contrast, within sRGB`, () => {
    const outside = Object.entries(tokens).filter(([, colors]) =>
      toRgb(colors[theme]).some((part) => part < -0.001 || part > 1.001),
    )
    assert.deepEqual(outside, [])
    const weak = pairs.flatMap(([shown, grounds, least]) =>
      grounds
        .map((ground) => ({
          shown,
          ground,
          contrast: contrastOf(tokens[shown]![theme], tokens[ground]![theme]),
        }))
        .filter(({ contrast }) => contrast < least),
    )
    assert.deepEqual(weak, [])
  })

function contrastOf(one: Color, other: Color): number {
  const [high, low] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

function luminanceOf(color: Color): number {
  const [red, green, blue] = toRgb(color)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Linear light, by the definition of OKLab. */
function toRgb([lightness, chroma, hue]: Color): [number, number, number] {
  const a = chroma * Math.cos((hue * Math.PI) / 180)
  const b = chroma * Math.sin((hue * Math.PI) / 180)
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
}
