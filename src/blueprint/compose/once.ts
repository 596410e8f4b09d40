// Services whose end others wait for: no service of Berth ends, so they become pre-deploy commands.
import { isDeepStrictEqual } from 'node:util'
import type { Remark } from './compose-text.ts'
import type { Draft } from './draft.ts'

const sources = [
  'image',
  'folder',
  'repo_url',
  'branch',
  'root_dir',
  'dockerfile_path',
  'build_target',
  'build_args',
]

/** Without those that run once. */
export function moveOneOffCommands(drafts: Draft[], remark: Remark): Draft[] {
  let rest = drafts
  for (;;) {
    const names = new Set(rest.flatMap((one) => [...one.waits].filter((name) => name !== one.original)))
    const waited = rest.filter(({ original, kind }) => names.has(original) && kind === 'service')
    const isFirst = ({ waits }: Draft) => waited.every(({ original }) => !waits.has(original))
    const once = waited.find(isFirst) ?? waited[0]
    if (once === undefined) return rest
    rest = rest.filter((one) => one !== once)
    moveCommand(once, rest, remark)
  }
}

function moveCommand(once: Draft, others: Draft[], remark: Remark): void {
  const { original, fields, needs } = once
  const waiting = others.filter(({ waits }) => waits.has(original))
  const fitting = waiting.filter((one) => whyNot(once, one) === null)
  const runner = fitting.find(({ isPublic }) => isPublic) ?? fitting[0]
  const at = ['services', original]
  if (runner === undefined) {
    const [first] = waiting
    const { name } = first!
    remark(
      at,
      `it is left out, because it runs once and then ends, and it is no pre-deploy command of ${name}: ` +
        `${whyNot(once, first!)}; give ${name} a pre_deploy_command that does the same, or run it by hand: ` +
        `berth run ${name} -- COMMAND`,
    )
    return
  }
  const commands = [runner.fields.pre_deploy_command, fields.pre_deploy_command, fields.start_command]
  runner.fields.pre_deploy_command = commands.filter(Boolean).join(' && ')
  for (const need of needs) runner.needs.add(need)
  remark(at, `it runs once, so it is the pre_deploy_command of ${runner.name}`)
  for (const one of waiting.filter((one) => one !== runner))
    remark(['services', one.original, 'depends_on', original], `it does not wait: ${runner.name} runs that`)
}

function whyNot({ fields, env }: Draft, waiting: Draft): string | null {
  const isSame = sources.every((key) => isDeepStrictEqual(fields[key], waiting.fields[key]))
  if (!isSame) return 'it has another image'
  if (!fields.start_command) return 'its command is that of the image'
  if (fields.disk_mount_path) return 'a pre-deploy command has no disk'
  const missing = [...env.values()].find(({ key, value, isUnknown }) => {
    const other = waiting.env.get(key)
    return other?.value !== value || other.isUnknown !== isUnknown
  })
  return missing ? `${waiting.name} does not have its variable ${missing.key}` : null
}
