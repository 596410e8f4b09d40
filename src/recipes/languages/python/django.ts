// Django: a manage.py, and the module that servers are given.
import { posix } from 'node:path'
import type { Tree } from '../../tree.ts'
import type { Start } from './frameworks.ts'

export function findDjango(app: Tree, names: Set<string>): Start | null {
  const manage = findManage(app)
  if (manage === null || !(names.has('django') || /django/i.test(app.text(manage)))) return null
  const folder = posix.dirname(manage)
  const directory = folder === '.' ? '' : folder
  const wsgi = findModule(app, directory, 'wsgi')
  const asgi = findModule(app, directory, 'asgi')
  const found = { framework: 'Django', listens: true }
  if (wsgi && names.has('gunicorn')) {
    const where = directory ? `--chdir ${directory} ` : ''
    const reason = `Django's ${wsgi}, and gunicorn is among the packages`
    return { ...found, command: `gunicorn ${where}--bind 0.0.0.0:$PORT ${wsgi}`, reason }
  }
  if (asgi && names.has('uvicorn')) {
    const where = directory ? `--app-dir ${directory} ` : ''
    const reason = `Django's ${asgi}, and uvicorn is among the packages`
    return { ...found, command: `uvicorn ${where}--host 0.0.0.0 --port $PORT ${asgi}`, reason }
  }
  return {
    ...found,
    command: `python ${manage} runserver 0.0.0.0:$PORT --noreload`,
    reason: 'this is the development server of Django, because gunicorn is not among the packages',
  }
}

export function findManage(app: Tree): string | null {
  return app.first('manage.py') ?? app.find(/^[^/]+\/manage\.py$/)[0] ?? null
}

/** `mysite.wsgi:application`: what the settings name, or the file. */
function findModule(app: Tree, directory: string, kind: 'wsgi' | 'asgi'): string | null {
  const tree = app.in(directory)
  const named = new RegExp(`^${kind.toUpperCase()}_APPLICATION\\s*=\\s*['"]([\\w.]+)\\.(\\w+)['"]`, 'm')
  for (const file of findSettings(tree)) {
    const [, module, name] = named.exec(tree.text(file)) ?? []
    if (module) return `${module}:${name}`
  }
  const file = tree.find(new RegExp(`^[\\w/]+/${kind}\\.py$`))[0]
  return file ? `${file.replace(/\.py$/, '').replaceAll('/', '.')}:application` : null
}

/** Whether the settings have a folder for static files, or only under a condition that a build may miss. */
export function findStaticRoot(app: Tree): 'always' | 'sometimes' | null {
  const texts = findSettings(app).map((file) => app.text(file))
  if (texts.some((text) => /^STATIC_ROOT\s*=/m.test(text))) return 'always'
  return texts.some((text) => /^[ \t]+STATIC_ROOT\s*=/m.test(text)) ? 'sometimes' : null
}

function findSettings(app: Tree): string[] {
  return app.find(/(^|\/)(settings(\/\w+)?|settings_\w+)\.py$/)
}
