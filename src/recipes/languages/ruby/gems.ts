// The gems that a source asks for.
import type { Tree } from '../../tree.ts'

/** Names with versions; those of the lock file include what other gems need. Without one, no versions. */
export function readGems(app: Tree): Map<string, string> {
  const locked = [...app.text('Gemfile.lock').matchAll(/^ {4}([\w.-]+) \(([\d.]+)[^)]*\)$/gm)]
  const asked = [...app.text('Gemfile').matchAll(/^\s*gem[\s(]+["']([\w.-]+)["']/gm)]
  const gems = locked.length > 0 ? locked : asked
  return new Map(gems.map(([, name = '', version = '']) => [name, version]))
}

/** Packages of Debian that gems load. The full image has what they are compiled with. */
const libraries: Record<string, string> = {
  pg: 'libpq5',
  mysql2: 'libmariadb3',
  trilogy: 'libssl3',
  sqlite3: 'libsqlite3-0',
  'ruby-vips': 'libvips42',
  mini_magick: 'imagemagick',
  rmagick: 'imagemagick',
  charlock_holmes: 'libicu-dev',
  'streamio-ffmpeg': 'ffmpeg',
}

export function findLibraries(gems: Map<string, string>): { gem: string; library: string }[] {
  return Object.entries(libraries).flatMap(([gem, library]) => (gems.has(gem) ? [{ gem, library }] : []))
}

/** A lock file from another kind of computer cannot be held to on Linux. */
export function isLockedForLinux(app: Tree): boolean {
  return /^ {2}(ruby|(x86_64|aarch64)-linux\S*)$/m.test(app.text('Gemfile.lock'))
}

/** Gems in folders of the source must be there before the others are installed. */
export function hasLocalGems(app: Tree): boolean {
  return /^\s*gemspec\b|\bpath(:|\s*=>)|\beval_gemfile\b/m.test(app.text('Gemfile'))
}
