// Go: a static program of a module or a workspace.
import { posix } from 'node:path'
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
  type Step,
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
import { copyByFolder } from '../copies.ts'
import { installPackages } from '../debian.ts'
import type { Language } from '../language.ts'
import { findWorkspace } from '../workspace.ts'
import { findCgo } from './cgo.ts'

const supported = { tags: ['1.22', '1.23', '1.24', '1.25', '1.26'], usual: '1.26' }
/** Than the images of bookworm, which run what theirs build. */
const isOlder = /^1\.1?\d(\.|$)/
const caches = ['/go/pkg/mod', '/root/.cache/go-build']

export const go: Language = {
  evidence: ['go.mod', 'main.go'],
  isHere: (app) =>
    app.first('go.mod', 'go.work', 'main.go') !== null &&
    (!app.has('package.json') || findPrograms(app).length > 0),
  draft,
}

function draft(facts: Facts, wishes: Wishes): Draft | Refusal {
  const { tree, context, folder } = findWorkspace(facts, (above) => above.has('go.work'))
  const programs = findPrograms(tree).filter((path) => folder === '' || `${path}/`.startsWith(`${folder}/`))
  const wish = ownCommand(wishes.start)
  const program = chooseProgram(tree, programs, wishes.start)
  if (program === null) return refuseChoice(programs)
  const version = goVersion(tree, program.path)
  const cgo = findCgo(tree)
  const assets = chooseAssets(tree, { isCompiled: true })
  const binary = placeBinary(tree, nameOf(tree, program.path), wish)
  const runs = wish ?? { command: `/app/${binary}`, reason: 'the program' }
  const target = program.path === '.' ? '.' : `./${program.path}`
  const build = `go build -trimpath -tags timetzdata -ldflags '-s -w' -o /out/${binary} ${target}`
  return {
    title: 'Go',
    context,
    choices: [
      { what: `go ${version.tag}`, reason: version.reason },
      { what: `go build ${target}`, reason: program.reason },
      ...(cgo ? [{ what: 'built with cgo', reason: `${cgo.module} needs it` }] : []),
      ...assets.choices,
      ...[wishes.build, runs].flatMap(toChoice),
    ],
    stages: [
      ...assets.stages,
      {
        name: 'build',
        from: `golang:${version.tag}${cgo && !isOlder.test(version.tag) ? '-bookworm' : ''}`,
        steps: [
          ...installPackages(cgo?.build ?? []),
          workdir(sourceFolder),
          ...(cgo ? [] : [env({ CGO_ENABLED: '0' })]),
          ...download(tree),
          ...(assets.install ?? [copy(['.'], '.')]),
          ...assets.build,
          ...(tree.first('go.mod', 'go.work') ? [] : [run('go mod init app && go mod tidy', { caches })]),
          ...(wishes.build ? [run(wishes.build.command, { caches, secrets: wishes.env })] : []),
          run(build, { caches }),
          ...placeData(tree, findHome(tree, program.path)),
        ],
      },
      {
        name: 'app',
        from: cgo ? 'debian:bookworm-slim' : 'alpine:3',
        steps: [
          ...installPackages(cgo ? ['ca-certificates', ...cgo.run] : []),
          ...copyProgram,
          env({ PATH: '/app/bin:$PATH', HOME: '/app' }),
          user,
          start(runs.command),
        ],
      },
    ],
    ignore: ['node_modules'],
    port: listens(wishes) ? 8080 : null,
  }
}

/** The folders with a program, as `cmd/server`; `.` for the top. */
function findPrograms(tree: Tree): string[] {
  const isProgram = (text: string) => /^package main\b/m.test(text) && /^func main\(\)/m.test(text)
  const isIgnored = (text: string) => /^\/\/(go:build| \+build) ignore\b/m.test(text)
  const aside = /(^|\/)([._].*|vendor|testdata|examples?|tests?|tools?|scripts?|hack|docs)\//
  const files = tree.find(/\.go$/).filter((path) => !aside.test(path))
  const mains = files.filter((path) => isProgram(tree.text(path)) && !isIgnored(tree.text(path)))
  return [...new Set(mains.map((path) => posix.dirname(path)))]
}

function chooseProgram(tree: Tree, programs: string[], wish: Reasoned | null) {
  const [only] = programs
  if (only !== undefined && programs.length === 1) return { path: only, reason: 'the only program' }
  const names = programs.map((path) => nameOf(tree, path))
  const path = programs[names.indexOf(findNamed(names, wish) ?? '')]
  if (wish && path !== undefined) return { path, reason: wish.reason }
  if (programs.includes('.')) return { path: '.', reason: 'the program at the top' }
  const [main, other] = programs.filter((one) => tree.has(`${one}/main.go`))
  return main !== undefined && other === undefined ? { path: main, reason: 'the only main.go' } : null
}

function refuseChoice(programs: string[]): Refusal {
  if (programs.length === 0)
    return refuse('it has no program: no file has "package main" and "func main()"', {
      lookedFor: ['main.go'],
    })
  const example = posix.basename(programs[0] ?? '')
  const list = programs.join(', ')
  return refuse(`it has several programs (${list}), so the start command must name one`, { start: example })
}

/** As `go build` names it: the last part of its folder or module. */
function nameOf(tree: Tree, path: string): string {
  const [, module = 'app'] = /^module\s+(\S+)/m.exec(tree.text('go.mod')) ?? []
  return posix.basename(path === '.' ? module.replace(/\/v\d+$/, '') : path)
}

/** The folder of its module, from which it is run. */
function findHome(tree: Tree, path: string): string {
  let folder = path
  while (folder !== '.' && !tree.has(`${folder}/go.mod`)) folder = posix.dirname(folder)
  return folder === '.' ? '' : folder
}

function goVersion(tree: Tree, path: string): Version {
  const module = posix.join(findHome(tree, path), 'go.mod')
  const text = tree.text(module)
  const [toolchain, minor] = /^toolchain go(\d+\.\d+)\S*/m.exec(text) ?? []
  const [line, minimum] =
    /^go (\d+\.\d+)\S*/m.exec(tree.text('go.work')) ?? /^go (\d+\.\d+)\S*/m.exec(text) ?? []
  const wishes = [
    { text: minor, reason: `${toolchain} in ${module}` },
    { text: minimum, reason: `${line} in ${tree.has('go.work') ? 'go.work' : module}` },
  ].flatMap(({ text: wish, reason }) => (wish ? [{ text: wish, reason }] : []))
  const files = [...readVersionFiles(tree, ['.go-version'], 'golang'), ...readVersionFiles(tree, [], 'go')]
  return chooseVersion([...files, ...wishes], supported)
}

function download(tree: Tree): Step[] {
  const manifests = tree.find(/^(?!vendor\/)(.*\/)?go\.(mod|sum|work|work\.sum)$/)
  if (manifests.length === 0 || tree.has('vendor/modules.txt')) return []
  return [...copyByFolder(manifests), run('go mod download', { caches })]
}
