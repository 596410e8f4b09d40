// Who may import whom: the table of the architecture, as data. A folder that is missing here may not exist.
// `a/` means a folder with all below it, `a/*` only the files right in it.

export interface Border {
  of: string
  /** Outside libraries. */
  packages: string[]
  /** Whether node's own modules are allowed. */
  node: boolean
  /** What may be imported as it is, */
  values: string[]
  /** and, in addition, what as types only. */
  types: string[]
}

const ground = [
  'src/async/',
  'src/config/',
  'src/domain/',
  'src/address-check.ts',
  'src/address-classes.ts',
  'src/control-sequences.ts',
  'src/equal-secret.ts',
  'src/error-line.ts',
  'src/errors.ts',
  'src/logger.ts',
  'src/nearest-name.ts',
  'src/process-groups.ts',
  'src/quantities.ts',
  'src/readers/read.ts',
  'src/readers/json.ts',
]

/** A chart imports no other chart. */
function machine(of: string): Border {
  const files = ['backup-subject', 'slot', 'problem', 'root-state', 'error-codes']
  const shared = [...files.map((file) => `machines/${file}.ts`), 'src/quantities.ts']
  const ownFolder = of === 'machines/' ? [] : [of]
  const types = ['machines/', 'src/domain/notice.ts']
  return { of, packages: ['xstate'], node: false, values: [...ownFolder, ...shared], types }
}

// The first line that fits a file counts.
export const borders: Border[] = [
  { of: 'machines/index.ts', packages: ['xstate'], node: false, values: ['machines/'], types: [] },
  ...['datastore', 'deploy', 'git-connection'].map((kind) => machine(`machines/${kind}/`)),
  { of: 'machines/mermaid.ts', packages: ['xstate'], node: false, values: ['machines/graph.ts'], types: [] },
  machine('machines/'),
  {
    of: 'src/async/',
    packages: ['p-limit'],
    node: true,
    values: ['src/async/', 'src/quantities.ts'],
    types: [],
  },
  {
    of: 'storage/',
    packages: ['lmdb', 'p-limit', 'ulid'],
    node: true,
    values: ['storage/', 'src/async/', 'src/equal-secret.ts', 'src/quantities.ts'],
    types: [],
  },
  {
    of: 'src/docker/',
    packages: ['dockerode', 'tar-stream', 'protobufjs', '@grpc/grpc-js'],
    node: true,
    values: [
      'src/docker/',
      'src/async/',
      'src/address-classes.ts',
      'src/control-sequences.ts',
      'src/errors.ts',
      'src/quantities.ts',
    ],
    types: [],
  },
  {
    of: 'src/berth-builds.ts',
    packages: [],
    node: true,
    values: ['src/docker/build/', 'src/errors.ts'],
    types: [],
  },
  { of: 'src/firewall/', packages: [], node: true, values: ['src/firewall/', 'src/errors.ts'], types: [] },
  {
    of: 'src/dns/',
    packages: [],
    node: true,
    values: ['src/dns/', 'src/async/', 'src/errors.ts', 'src/quantities.ts'],
    types: [],
  },
  {
    of: 'src/git/',
    packages: ['simple-git', 'zod'],
    node: true,
    values: [
      'src/git/',
      'src/async/',
      'src/errors.ts',
      'src/address-check.ts',
      'src/address-classes.ts',
      'src/process-groups.ts',
      'src/quantities.ts',
      'src/readers/json.ts',
      'src/readers/read.ts',
    ],
    types: [],
  },
  {
    of: 'src/readers/',
    packages: [],
    node: true,
    values: ['src/readers/', 'src/recipes/', 'src/git-providers/hooks.ts', ...ground],
    types: [],
  },
  {
    of: 'src/git-providers/',
    packages: ['jose', 'zod'],
    node: true,
    values: [
      'src/git-providers/',
      'src/async/',
      'src/git/remote-host.ts',
      'src/equal-secret.ts',
      'src/errors.ts',
      'src/address-check.ts',
      'src/address-classes.ts',
      'src/quantities.ts',
      'src/readers/json.ts',
      'src/readers/read.ts',
    ],
    types: [],
  },
  {
    of: 'src/recipes/',
    packages: ['diff', 'package-manager-detector', 'semver', 'smol-toml'],
    node: true,
    values: ['src/recipes/', 'src/domain/service-types.ts', 'src/domain/shell-word.ts'],
    types: [],
  },
  { of: 'src/archive/', packages: [], node: true, values: ['src/archive/', 'src/errors.ts'], types: [] },
  {
    of: 'src/edge/',
    packages: ['jose', '@peculiar/x509', 'reflect-metadata'],
    node: true,
    values: ['src/edge/', 'src/async/', 'src/errors.ts', 'src/quantities.ts'],
    types: [],
  },
  {
    of: 'src/object-storage/',
    packages: ['@aws-sdk/client-s3', '@aws-sdk/lib-storage'],
    node: true,
    values: [
      'src/object-storage/',
      'src/async/',
      'src/address-check.ts',
      'src/address-classes.ts',
      'src/control-sequences.ts',
      'src/errors.ts',
    ],
    types: [],
  },
  {
    of: 'src/channels/',
    packages: ['nodemailer'],
    node: true,
    values: ['src/channels/', ...ground],
    types: ['storage/'],
  },
  {
    of: 'src/sources/',
    packages: [],
    node: true,
    values: ['src/sources/', 'src/archive/', 'src/git/', ...ground],
    types: ['machines/', 'storage/'],
  },
  {
    of: 'src/builders/',
    packages: [],
    node: true,
    values: ['src/builders/', 'src/sources/', 'src/recipes/', 'src/docker/', ...ground],
    types: ['storage/'],
  },
  {
    of: 'src/effects/',
    packages: ['ignore', 'p-limit', 'prom-client'],
    node: true,
    values: [
      'src/effects/',
      'src/account/',
      'src/archive/',
      'src/builders/',
      'src/channels/',
      'src/dns/',
      'src/docker/',
      'src/firewall/',
      'src/git/',
      'src/git-providers/',
      'src/edge/',
      'src/object-storage/',
      'src/sources/',
      'storage/',
      ...ground,
    ],
    types: ['machines/'],
  },
  {
    of: 'src/supervisor/',
    packages: ['p-limit', 'xstate'],
    node: true,
    values: [
      'src/supervisor/',
      'src/own-end.ts',
      'machines/graph.ts',
      'machines/index.ts',
      'storage/',
      ...ground,
    ],
    types: ['machines/'],
  },
  {
    of: 'src/http/',
    packages: ['marked', 'uWebSockets.js', 'zod'],
    node: true,
    values: [
      'src/http/',
      'src/api/',
      'src/account/',
      'machines/index.ts',
      'machines/graph.ts',
      'machines/mermaid.ts',
      ...ground,
    ],
    types: ['src/', 'storage/', 'machines/'],
  },
  {
    of: 'src/api/',
    packages: ['zod'],
    node: true,
    values: [
      'src/api/',
      'src/account/password-rule.ts',
      'src/account/rights.ts',
      'machines/error-codes.ts',
      ...ground,
    ],
    types: ['machines/', 'storage/'],
  },
  {
    of: 'src/blueprint/',
    packages: ['yaml', 'zod'],
    node: true,
    values: [
      'src/blueprint/',
      'src/api/',
      'src/docker/images/image-reference.ts',
      'src/git/repository.ts',
      ...ground,
    ],
    types: ['storage/'],
  },
  {
    of: 'src/cli/',
    packages: [
      '@clack/prompts',
      'commander',
      'eventsource-parser',
      'ignore',
      'log-update',
      'open',
      'string-width',
      'tar-stream',
      'ws',
    ],
    node: true,
    values: [
      'src/cli/',
      'src/archive/',
      'src/async/',
      'src/blueprint/',
      'src/control-sequences.ts',
      'src/errors.ts',
      'src/version.ts',
      'src/domain/dockerfiles.ts',
      'src/domain/domains.ts',
      'src/domain/env-file.ts',
      'src/domain/kept-disks.ts',
      'src/domain/service-settings.ts',
      'src/domain/shell-word.ts',
      'src/domain/stateful-images.ts',
      'src/doctor/report.ts',
      'src/error-line.ts',
      'src/nearest-name.ts',
      'src/platform.ts',
      'src/quantities.ts',
      'src/recipes/',
    ],
    types: ['src/api/', 'src/domain/'],
  },
  {
    of: 'src/account/',
    packages: ['argon2', 'p-limit'],
    node: true,
    values: ['src/account/', 'storage/access/hashed-tokens.ts', ...ground],
    types: ['storage/'],
  },
  {
    of: 'src/dashboard/build/',
    packages: ['elkjs', 'vite', 'xstate'],
    node: true,
    values: ['src/dashboard/build/', 'src/dashboard/chart/words.ts', 'machines/'],
    types: [],
  },
  {
    of: 'src/dashboard/vite.config.ts',
    packages: ['vite', '@vitejs/plugin-react'],
    node: true,
    values: [],
    types: [],
  },
  {
    of: 'src/dashboard/',
    packages: [
      'react',
      'react-dom',
      '@tanstack/react-query',
      '@tanstack/react-router',
      '@tanstack/react-virtual',
      'anser',
      'cmdk',
      'eventsource-parser',
      'lucide-react',
    ],
    node: false,
    values: ['src/dashboard/'],
    types: ['src/api/', 'src/dashboard/build/'],
  },
  {
    of: 'src/doctor/',
    packages: [],
    node: true,
    values: ['src/doctor/', 'src/docker/', 'src/firewall/rules.ts', 'src/server-backup/keys.ts', ...ground],
    types: ['machines/', 'storage/'],
  },
  {
    of: 'src/host-commands/',
    packages: [],
    node: true,
    values: [
      'src/host-commands/',
      'src/account/',
      'src/ask-secret.ts',
      'src/docker/',
      'src/doctor/',
      'src/object-storage/',
      'src/server-backup/',
      'storage/',
      ...ground,
    ],
    types: [],
  },
  {
    of: 'src/inspect/',
    packages: ['ws', 'xstate'],
    node: true,
    values: ['src/inspect/', 'src/address-classes.ts', 'src/errors.ts'],
    types: ['src/supervisor/'],
  },
  {
    of: 'src/server-backup/',
    packages: ['age-encryption', 'tar-stream'],
    node: true,
    values: [
      'src/server-backup/',
      'src/object-storage/',
      'src/archive/entry-path.ts',
      'storage/',
      'src/*',
      ...ground,
    ],
    types: [],
  },
  {
    of: 'src/daemon/',
    packages: ['p-limit'],
    node: true,
    values: ['src/', 'storage/', 'machines/'],
    types: [],
  },
  {
    of: 'src/domain/',
    packages: ['cron-parser'],
    node: true,
    values: ['src/domain/', 'src/errors.ts', 'src/quantities.ts'],
    types: ['storage/', 'machines/'],
  },
  {
    of: 'src/config/',
    packages: ['zod'],
    node: true,
    values: ['src/config/', 'src/domain/', 'src/*'],
    types: [],
  },
  {
    of: 'src/berthd.ts',
    packages: [],
    node: true,
    values: ['src/daemon/', 'src/config/', 'src/host-commands/', 'src/*'],
    types: [],
  },
  { of: 'src/*', packages: ['pino'], node: true, values: ['src/*'], types: [] },
]

interface Gate {
  /** A library, or a file of the product. */
  from: string
  name?: string
  gate: string
}

/** Libraries with side effects, each with the one place that may load it; types may be named elsewhere. */
export const gates: Gate[] = [
  { from: 'lmdb', gate: 'storage/store/store.ts' },
  { from: 'dockerode', gate: 'src/docker/engine/client.ts' },
  { from: 'uWebSockets.js', gate: 'src/http/server/server.ts' },
  { from: 'prom-client', gate: 'src/effects/traffic/traffic-numbers.ts' },
  { from: '@aws-sdk/client-s3', gate: 'src/object-storage/bucket.ts' },
  { from: '@aws-sdk/lib-storage', gate: 'src/object-storage/bucket.ts' },
  { from: 'xstate', name: 'createActor', gate: 'src/supervisor/' },
]

/**
 * What takes as long as a stranger's text likes. The daemon leaves it to readers; the command line reads the
 * text of its own user.
 */
export const readByReaders: { from: string; names?: string[]; also?: string[] }[] = [
  { from: 'smol-toml', also: ['src/recipes/'] },
  { from: 'yaml', also: ['src/blueprint/'] },
  { from: 'src/blueprint/', also: ['src/blueprint/', 'src/cli/'] },
  {
    from: 'src/recipes/',
    names: ['chooseRecipe', 'readFacts', 'readRecipe'],
    also: ['src/recipes/', 'src/cli/'],
  },
  { from: 'src/domain/watched-paths.ts' },
  { from: 'src/readers/json-text.ts' },
]

/** Files of the daemon that parse JSON on the event loop, by whose it is. */
export const jsonOnTheLoop: Record<string, string[]> = {
  "Berth's own": [
    'src/berth-builds.ts',
    'src/docker/build/build-guard.ts',
    'src/effects/logs/collected-log.ts',
    'src/host-commands/',
    'src/http/openapi/document.ts',
    'src/log-text.ts',
    'src/server-backup/manifest.ts',
    'src/version.ts',
    'storage/',
  ],
  "Docker's and HAProxy's": ['src/docker/', 'src/doctor/docker.ts', 'src/edge/access-events.ts'],
  'of a certificate authority or DNS provider, over TLS': ['src/dns/cloudflare.ts', 'src/edge/acme/'],
  'at most 16 KiB of a caller': ['src/http/routes/shells.ts'],
  'in readers': ['src/git-providers/hooks.ts', 'src/readers/', 'src/recipes/', 'src/blueprint/'],
}

export function covers(pattern: string, path: string): boolean {
  if (pattern.endsWith('/')) return path.startsWith(pattern)
  if (!pattern.endsWith('/*')) return path === pattern
  const folder = pattern.slice(0, -1)
  return path.startsWith(folder) && !path.slice(folder.length).includes('/')
}
