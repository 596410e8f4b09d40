// Rust: a program of a package or a workspace.
import { listens } from '../../../domain/service-types.ts'
import type { Facts } from '../../facts.ts'
import {
  copy,
  type Draft,
  env,
  type Reasoned,
  type Refusal,
  refuse,
  run,
  start,
  toChoice,
  user,
  type Wishes,
  workdir,
} from '../../recipe.ts'
import type { Tree } from '../../tree.ts'
import { chooseVersion, readVersionFiles, type Version } from '../../versions.ts'
import { chooseAssets } from '../assets.ts'
import { copyProgram, findNamed, ownCommand, placeBinary, placeData, sourceFolder } from '../binary.ts'
import { installPackages } from '../debian.ts'
import type { Language } from '../language.ts'
import { findWorkspace } from '../workspace.ts'
import { findLibraries } from './libraries.ts'
import { findPrograms, isWorkspace, type Program } from './manifest.ts'

const supported = { tags: ['1'], usual: '1' }
const home = '/usr/local/cargo'
const caches = [`${home}/registry`, `${home}/git`, `${sourceFolder}/target`]
/** Cargo goes by the times of files, and those of an older commit are older than what is in the cache. */
const touch = 'find . -path ./target -prune -o -type f -exec touch {} +'

export const rust: Language = {
  evidence: ['Cargo.toml'],
  // Packages of JavaScript may have parts in Rust.
  isHere: (app) => app.has('Cargo.toml') && (!app.has('package.json') || findPrograms(app).length > 0),
  draft,
}

function draft(facts: Facts, wishes: Wishes): Draft | Refusal {
  const { tree, context, folder } = findWorkspace(facts, isWorkspace)
  const programs = findPrograms(tree).filter((one) => folder === '' || one.folder === folder)
  const found = chooseProgram(programs, wishes.start)
  if (found === null) return refuseChoice(programs)
  const { program, reason } = found
  const version = rustVersion(tree, program)
  const [, minor = 70] = version.tag.split('.').map(Number)
  const wish = ownCommand(wishes.start)
  const binary = placeBinary(tree, program.name, wish)
  const isRocket = program.dependencies.includes('rocket')
  const own = isRocket
    ? { command: `env ROCKET_PORT=$PORT /app/${binary}`, reason: 'Rocket has a variable of its own' }
    : { command: `/app/${binary}`, reason: 'the program' }
  const runs = wish ?? own
  const libraries = findLibraries(tree, program.dependencies)
  const assets = chooseAssets(tree, { isCompiled: true })
  const locked = tree.has('Cargo.lock') ? ' --locked' : ''
  const cargo = `cargo build --release${locked} --package ${program.package} --bin ${program.name}`
  return {
    title: isRocket ? 'Rust with Rocket' : 'Rust',
    context,
    choices: [
      { what: `rust ${version.tag}`, reason: version.reason },
      { what: `cargo build --bin ${program.name}`, reason },
      ...libraries.map(({ crate, build, run }) => ({
        what: [...build, ...run].join(', '),
        reason: `${crate} uses it`,
      })),
      ...assets.choices,
      ...[wishes.build, runs].flatMap(toChoice),
    ],
    stages: [
      ...assets.stages,
      {
        name: 'build',
        from: `rust:${version.tag}${minor >= 70 ? '-bookworm' : ''}`,
        steps: [
          ...installPackages(libraries.flatMap(({ build }) => build)),
          workdir(sourceFolder),
          // Queries are checked against what was prepared, not against a database.
          ...(tree.hasFolder('.sqlx') ? [env({ SQLX_OFFLINE: 'true' })] : []),
          ...(assets.install ?? [copy(['.'], '.')]),
          ...assets.build,
          ...(wishes.build ? [run(wishes.build.command, { caches, secrets: wishes.env })] : []),
          run(`${touch} && ${cargo} && install -D target/release/${program.name} /out/${binary}`, { caches }),
          ...placeData(tree, program.folder),
        ],
      },
      {
        name: 'app',
        from: 'debian:bookworm-slim',
        steps: [
          ...installPackages(libraries.flatMap(({ run }) => run)),
          ...copyProgram,
          env({ PATH: '/app/bin:$PATH', HOME: '/app', ...(isRocket && { ROCKET_ADDRESS: '0.0.0.0' }) }),
          user,
          start(runs.command),
        ],
      },
    ],
    ignore: ['target', 'node_modules'],
    port: !listens(wishes) ? null : isRocket ? 8000 : 8080,
  }
}

function chooseProgram(programs: Program[], wish: Reasoned | null) {
  const [only] = programs
  if (only && programs.length === 1) return { program: only, reason: 'the only program' }
  const names = programs.map(({ name }) => name)
  const named = programs[names.indexOf(findNamed(names, wish) ?? '')]
  if (named && wish) return { program: named, reason: wish.reason }
  const [byDefault, another] = programs.filter(({ isDefault }) => isDefault)
  return byDefault && !another ? { program: byDefault, reason: 'default-run in Cargo.toml' } : null
}

function refuseChoice(programs: Program[]): Refusal {
  if (programs.length === 0)
    return refuse('Cargo.toml is there, but no src/main.rs', { lookedFor: ['src/main.rs'] })
  const list = programs.map(({ name }) => name).join(', ')
  const must = 'so the start command must name one, or default-run do so'
  return refuse(`it has several programs (${list}), ${must}`, { start: programs[0]?.name ?? null })
}

/** `stable` and the like are no versions: rustup follows them in the build. */
function rustVersion(tree: Tree, program: Program): Version {
  const toolchain = (tree.toml('rust-toolchain.toml').toolchain ?? tree.toml('rust-toolchain').toolchain) as
    | { channel?: unknown }
    | undefined
  const channel = typeof toolchain?.channel === 'string' ? toolchain.channel : null
  const least = program.rustVersion
  return chooseVersion(
    [
      ...(channel ? [{ text: channel, reason: `${channel} in rust-toolchain.toml` }] : []),
      ...readVersionFiles(tree, ['rust-toolchain'], 'rust'),
      ...(least ? [{ text: `>=${least}`, reason: `rust-version ${least} in Cargo.toml is the least` }] : []),
    ],
    supported,
  )
}
