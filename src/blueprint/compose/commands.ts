// `command` and `entrypoint` of a Compose service as a start command, which replaces both in Berth.
import { posix } from 'node:path'
import { quote } from '../../domain/shell-word.ts'
import { isRecord } from '../yaml.ts'
import type { Draft } from './draft.ts'

/** Programs that are usual as a whole command. */
const programs = oneOf(`
  (ba|da|a|z)?sh node npm npx pnpm yarn bun deno tsx next pm2(-runtime)? python[\\d.]* gunicorn
  uvicorn hypercorn daphne celery flask uwsgi poetry uv ruby bundle rails rake puma sidekiq
  php[\\d.]* php-fpm[\\d.]* apache2-foreground java go air cargo dotnet mix elixir perl make
  nginx httpd caddy apachectl traefik haproxy varnishd crond? supervisord tini dumb-init
  catatonit env exec sleep tail cat echo true top su gosu su-exec s6-svscan redis-server
  valkey-server postgres mysqld mariadbd mongo[ds] memcached etcd rabbitmq-server influxd
  clickhouse-server elasticsearch minio vault consul nats-server
`)
/** Words for an entrypoint, which are no programs themselves. */
const roles = oneOf(`
  agent api app backend beat client console daemon default dev flower frontend help init listen
  main master migrate migrations? prod production proxy queue replica run scheduler serve server
  setup standalone start start-(dev|prod) start:\\w+ triggerer tunnel up version watch web
  webhook webserver worker workers ws
`)

function oneOf(patterns: string): RegExp {
  return new RegExp(`^(${patterns.trim().split(/\s+/).join('|')})$`)
}

/** Images of databases whose entrypoint prepares an empty disk, and takes any command. */
const preparing =
  /^(docker\.io\/)?(library\/)?(mysql|mariadb|mongo|postgres|(postgis|pgvector)\/\w+)(?=[:@]|$)/

const beforeArguments = "write the image's own program before these arguments"

/** The reason, and whether it is set nevertheless. */
export function carryCommand(
  { fields }: Draft,
  value: unknown,
  { service, readText }: { service: Record<string, unknown>; readText(path: string): string | null },
): string | undefined {
  const command = commandText(value)
  if (service.entrypoint !== undefined || command === '') return
  const entrypoint = entrypointOf(service.build, readText)
  if (typeof entrypoint === 'string') {
    fields.start_command = `${entrypoint} ${command}`
    return
  }
  const image = String(service.build === undefined ? service.image : '')
  if (preparing.test(image)) {
    fields.start_command = `docker-entrypoint.sh ${command}`
    return "carried over, behind the image's own entrypoint"
  }
  const [first = '', ...others] = Array.isArray(value) ? value.map(String) : command.trim().split(/\s+/)
  if (first.startsWith('-')) return beforeArguments
  const isFree = service.build !== undefined && entrypoint === null
  if (!isFree && !isProgram(first, { image, isAlone: others.length === 0 })) {
    return `'${first}' may be a word for the image's entrypoint: ${beforeArguments}`
  }
  fields.start_command = command
  return service.build === undefined ? "carried over, but it also replaces the image's entrypoint" : undefined
}

/** A word alone is one only if it is known as one, has a path, or is called like its image. */
function isProgram(word: string, { image, isAlone }: { image: string; isAlone: boolean }): boolean {
  const name = word.replace(/^["']|["']$/g, '')
  if (/[/=$.]/.test(name) || programs.test(name)) return true
  if (roles.test(name)) return false
  return !isAlone || /[\w.-]+(?=(:[^/]*)?(@.*)?$)/.exec(image)?.[0] === name
}

export function carryEntrypoint({ fields }: Draft, value: unknown, command: unknown): string | undefined {
  const text = [value, command].map(commandText).join(' ').trim()
  if (text.startsWith('-')) return beforeArguments
  fields.start_command = text
}

function commandText(value: unknown): string {
  return Array.isArray(value) ? value.map((word) => quote(String(word))).join(' ') : String(value ?? '')
}

/** Null if the Dockerfile has none, undefined if it cannot be known. */
function entrypointOf(build: unknown, readText: (path: string) => string | null): string | null | undefined {
  const { context = '.', dockerfile = 'Dockerfile', target } = isRecord(build) ? build : { context: build }
  if (build === undefined || /:\/\//.test(String(context))) return undefined
  const text = readText(posix.join(String(context), String(dockerfile)))
  if (text === null) return undefined
  const stages = text.replace(/\\\r?\n/g, ' ').split(/^[ \t]*(?=FROM\s)/im)
  const words = entrypointIn(stages, target === undefined ? null : String(target))
  if (words === null) return null
  try {
    return commandText(JSON.parse(words)) || null
  } catch {
    // A shell runs it, without the command.
    return undefined
  }
}

/** Of the named stage or the last one, or of the stage that it is made from. */
function entrypointIn(stages: string[], name: string | null): string | null {
  const nameOf = (stage: string) => /^FROM\s.*\sAS\s+(\S+)/i.exec(stage)?.[1] ?? null
  const at = stages.findLastIndex((one) => name === null || nameOf(one) === name)
  if (at === -1) return null
  const [, words] = [...stages[at]!.matchAll(/^[ \t]*ENTRYPOINT\s+(.*)$/gim)].at(-1) ?? []
  const [, base] = /^FROM\s+(?:--\S+\s+)?(\S+)/i.exec(stages[at]!) ?? []
  return words ?? (base === undefined ? null : entrypointIn(stages.slice(0, at), base))
}
