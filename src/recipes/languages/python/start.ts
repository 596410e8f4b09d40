// What starts a Python app: the framework of its packages, or its main file.
import { posix } from 'node:path'
import type { Wishes } from '../../recipe.ts'
import type { Tree } from '../../tree.ts'
import { findDjango } from './django.ts'
import { type Framework, frameworks, type Miss, type Start } from './frameworks.ts'
import { readNames, readPyproject } from './packages.ts'

const mainFiles = 'main.py app.py server.py start.py run.py bot.py hello.py __main__.py'.split(' ')
/** Where the object of a framework is looked for first. */
const usualFiles = 'main.py app.py wsgi.py asgi.py server.py app/main.py src/main.py api/main.py'.split(' ')

export function findStart(app: Tree, type: Wishes['type']): Start | Miss {
  const names = readNames(app)
  const worker = type === 'background_worker' && names.has('celery') ? findCelery(app) : null
  if (worker) return worker
  const django = findDjango(app, names)
  if (django) return django
  if (names.has('streamlit'))
    return streamlit(app) ?? { problem: 'streamlit is asked for, but no file imports it' }
  const found = frameworks.find((framework) => names.has(framework.package))
  const target = found ? findTarget(app, found) : null
  if (found && target) return serve(app, found, target, names)
  return findMain(app) ?? { problem: nearestMiss(app, found?.name) }
}

interface Target {
  text: string
  file: string
}

function serve(app: Tree, framework: Framework, target: Target, names: Set<string>): Start | Miss {
  const { name, servers } = framework
  const server = servers.find(({ packages }) => packages.some((one) => names.has(one)))
  const found = { framework: name, listens: true }
  if (server) {
    const brings = server.packages.find((one) => names.has(one))
    const why = server.warning ?? `${brings} is among the packages`
    const reason = `${name} in ${target.file}, and ${why}`
    return { ...found, command: server.command.replace('TARGET', target.text), reason }
  }
  if (/\.run\(/.test(app.text(target.file)))
    return { ...found, command: `python ${target.file}`, reason: `${name} in ${target.file}, which runs it` }
  const wanted = servers[0]?.packages[0]
  return {
    problem: `${target.file} makes an app of ${name}, but no server is among the packages: add ${wanted}`,
  }
}

/** `main:app` for `app = FastAPI()` in main.py, or `app = create_app()`. */
function findTarget(app: Tree, { makes, attribute = '' }: Framework): Target | null {
  const blank = '[ \\t]*'
  const names = `(\\w+)(?:${blank},${blank}\\w+)*${blank}(?::[^=\\n]+)?`
  const maker = `${makes.source}|(?:create|get|make|build)_app(?:lication)?`
  const made = new RegExp(`^${names}=${blank}(?:await\\s+)?(?:[\\w.]+\\.)?(?:${maker})\\(`, 'm')
  for (const file of sources(app)) {
    const [, name] = made.exec(app.text(file)) ?? []
    if (name) return { text: [`${toModule(file)}:${name}`, attribute].filter(Boolean).join('.'), file }
  }
  const factory = sources(app).find((file) => /^def create_app\(/m.test(app.text(file)))
  return factory ? { text: `'${toModule(factory)}:create_app()'`, file: factory } : null
}

function sources(app: Tree): string[] {
  const others = app.find(/^(?!tests?\/|docs\/|examples\/|.*\btest_)[\w/]+\.py$/)
  return [...new Set([...usualFiles.filter((file) => app.has(file)), ...others])]
}

/** A folder `src` is on the path, unless it is a package itself. */
function toModule(file: string): string {
  return file.replace(/\/__init__\.py$|\.py$/, '').replaceAll('/', '.')
}

function streamlit(app: Tree): Start | null {
  const file = [...mainFiles, ...sources(app)].find((one) => /^(import|from) streamlit/m.test(app.text(one)))
  if (file === undefined) return null
  const command = `streamlit run ${file} --server.address 0.0.0.0 --server.port $PORT --server.headless true`
  return { command, reason: `Streamlit in ${file}`, framework: 'Streamlit', listens: true }
}

function findCelery(app: Tree): Start | null {
  const file = sources(app).find((one) => /^\w+\s*=\s*Celery\(/m.test(app.text(one)))
  if (file === undefined) return null
  const module = toModule(file).replace(/\.celery$/, '')
  const command = `celery --app ${module} worker --loglevel info`
  return { command, reason: `Celery in ${file}`, framework: 'Celery', listens: false }
}

function findMain(app: Tree): Start | null {
  const file = app.first(...mainFiles)
  const framework = null
  if (file)
    return { command: `python ${file}`, reason: 'the main file', framework, listens: file !== 'bot.py' }
  const scripts = Object.keys(readPyproject(app).project?.scripts ?? {})
  if (scripts.length === 1 && scripts[0])
    return { command: scripts[0], reason: 'the only one of project.scripts', framework, listens: true }
  const module = app.find(/^(src\/)?\w+\/__main__\.py$/)[0]
  if (module === undefined) return null
  const name = posix.basename(posix.dirname(module))
  return { command: `python -m ${name}`, reason: module, framework, listens: true }
}

function nearestMiss(app: Tree, framework: string | undefined): string {
  const manifest = app.first('pyproject.toml', 'requirements.txt', 'Pipfile') ?? 'Python'
  return framework
    ? `${framework} is among the packages, but no file makes its app, and there is no main.py or app.py`
    : `${manifest} is there, but no web framework and no main.py or app.py`
}
