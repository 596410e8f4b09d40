// Sizes, durations and counts for people, in messages of the server and of the CLI.

const exactUnits = [
  { unit: 'h', ms: 3_600_000, belowMs: Number.POSITIVE_INFINITY },
  { unit: 'm', ms: 60_000, belowMs: 3_600_000 },
  { unit: 's', ms: 1000, belowMs: 60_000 },
]
const sizeUnits = ['KiB', 'MiB', 'GiB', 'TiB']

/** `8.4s`, `3m 04s`, `1h 02m`; exact values, such as limits, have no zeros: `10s`, `5m`, `1h`. */
export function duration(durationMs: number): string {
  const exact = exactUnits.find(({ ms }) => durationMs > 0 && durationMs % ms === 0)
  if (exact && durationMs < exact.belowMs) return `${durationMs / exact.ms}${exact.unit}`
  const wholeSeconds = Math.round(durationMs / 1000)
  if (durationMs < 59_950) return `${(Math.max(0, durationMs) / 1000).toFixed(1)}s`
  const [hours, minutes, seconds] = [3600, 60, 1].map((unit, index, units) =>
    Math.floor((index === 0 ? wholeSeconds : wholeSeconds % units[index - 1]!) / unit),
  )
  return hours ? `${hours}h ${twoDigits(minutes)}m` : `${minutes}m ${twoDigits(seconds)}s`
}

/** `812 B`, `1.8 MiB`, `512 MiB`. */
export function size(sizeBytes: number): string {
  let amount = sizeBytes
  let unit = 'B'
  for (const next of sizeUnits) {
    if (amount < (unit === 'B' ? 1024 : 1023.95)) break
    amount /= 1024
    unit = next
  }
  return `${Number(amount.toFixed(1))} ${unit}`
}

/** `1 file`, `214 files`, `12,045 files`. */
export function count(amount: number, noun: string): string {
  return `${amount.toLocaleString('en')} ${noun}${amount === 1 ? '' : 's'}`
}

function twoDigits(amount = 0): string {
  return String(amount).padStart(2, '0')
}
