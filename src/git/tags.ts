// The highest tags of a pattern, from the lines of `git ls-remote`.

export interface Tag {
  name: string
  commit: string
}

export interface TagList {
  /** The lines come with the highest version first. */
  read(line: string): void
  highest(): Tag[]
}

/** Of the tags of a repository. */
const maxHighest = 10
/** The other line of a tag is near, because the highest come first. */
const maxCommits = 10_000

/** Releases come before pre-releases, unless the pattern names those. */
export function createTagList(pattern: string): TagList {
  const areEqual = preReleasePattern.test(pattern)
  const releases: string[] = []
  const preReleases: string[] = []
  const commits = new Map<string, string>()
  return {
    // A tag with a message comes again with `^{}` and its commit, and sorts as another name. A pattern also
    // matches the end of a longer name, as that of a branch `refs/tags/v1`.
    read(line) {
      const [sha = '', ref = ''] = line.split('\t')
      const name = ref.replace(/\^\{\}$/, '')
      if (!/^[0-9a-f]+$/.test(sha) || ref.lastIndexOf('refs/tags/') !== 0) return
      const list = areEqual || !preRelease.test(name) ? releases : preReleases
      const isHigh = ref === name && list.length < maxHighest
      if (isHigh) list.push(ref)
      if (!isHigh && commits.size >= maxCommits) return
      if (ref !== name || !commits.has(name)) commits.set(name, sha)
    },
    highest() {
      const refs = [...releases, ...preReleases].slice(0, maxHighest)
      return refs.map((ref) => ({ name: ref.slice('refs/tags/'.length), commit: commits.get(ref)! }))
    },
  }
}

const stages = 'alpha|beta|canary|dev|next|nightly|pre|preview|rc|snapshot'

/** `v2.0.0-1`, `2.0-rc1`, `v2.0.beta3` and `2.0b1`, but not `web-v2.0` or `2026-01-31`. */
const preRelease = new RegExp(`\\d\\.\\d+\\.\\d+-\\w|\\d[-._]?(?:${stages})(?![a-z])|\\d\\.\\d+[ab]\\d`, 'i')

/** `v*-rc*`, `v2.0-*` and `*beta*`. */
const preReleasePattern = new RegExp(`[*?\\d]-|(?<![a-z])(?:${stages})(?![a-z])`, 'i')
