// What an app needs of its env or settings before it works, where the source shows it.
import { findSecrets } from './languages/node/install.ts'
import { readGems } from './languages/ruby/gems.ts'
import type { Choice } from './recipe.ts'
import type { Tree } from './tree.ts'

/** `context` is what is built, which may be a workspace around the app. `env` has the keys that are set. */
export function findNeeds(context: Tree, app: Tree, env: string[]): Choice[] {
  const needs = [...findTokens(context), ...findDjango(app), ...findLaravel(app), ...findRails(app)]
  return needs.filter(({ keys }) => !keys.some((key) => env.includes(key))).map(({ choice }) => choice)
}

interface Need {
  choice: Choice
  /** Any of them is enough. */
  keys: string[]
}

function needKey(keys: string[], reason: string): Need {
  return { choice: { what: `the env needs ${keys[0]}`, reason: `${reason}: berth env set` }, keys }
}

function findTokens(tree: Tree): Need[] {
  const files = ['.npmrc', '.yarnrc.yml', 'bunfig.toml']
  return findSecrets(tree).map((name) => {
    const file = files.find((one) => tree.text(one).includes(name))
    return needKey([name], `${file} takes it for a registry`)
  })
}

function findDjango(app: Tree): Need[] {
  const files = app.find(/(^|\/)settings(\/\w+)?\.py$/)
  const lines = files.flatMap((file) => app.text(file).match(/^\s*ALLOWED_HOSTS\b.*$/gm) ?? [])
  const isEmpty = lines.length > 0 && lines.every((line) => /^ALLOWED_HOSTS\s*=\s*\[\s*\]/.test(line))
  const reason = 'Django answers each other host than localhost with 400: name the domain in the settings'
  return isEmpty ? [{ choice: { what: 'ALLOWED_HOSTS is empty', reason }, keys: [] }] : []
}

function findLaravel(app: Tree): Need[] {
  return app.has('artisan') && app.has('composer.json')
    ? [needKey(['APP_KEY'], 'Laravel answers 500 without it, and php artisan key:generate --show makes one')]
    : []
}

function findRails(app: Tree): Need[] {
  if (!app.has('bin/rails') || !readGems(app).has('rails')) return []
  const keys = ['SECRET_KEY_BASE', 'RAILS_MASTER_KEY']
  return app.has('config/credentials.yml.enc')
    ? [needKey(keys.reverse(), 'config/credentials.yml.enc is encrypted with it')]
    : [needKey(keys, 'Rails does not start without it, and bin/rails secret makes one')]
}
