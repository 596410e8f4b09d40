// The final messages of a command: success, how to undo the change, and the deploy that the command started.
import type { Deploy } from '../api/deploy.ts'
import type { Cli } from './client/session.ts'
import { withResumeHint } from './failure.ts'
import { plain } from './terminal/output.ts'
import { nextStep } from './terminal/phase-line.ts'

/** `✔ shop is scaled to 3`, on stderr. */
export function printDone({ out }: Cli, text: string): void {
  out.say(` ${out.tint('green', '✔')} ${plain(text)}`)
}

/** `   undo: berth scale shop 2` */
export function printUndo({ out }: Cli, command: string): void {
  out.say(nextStep(out, 'undo', command))
}

/** `   next: berth up shop` */
export function printNext({ out }: Cli, command: string): void {
  out.say(nextStep(out, 'next', command))
}

/** Shows the deploy until it ends; with --no-follow prints only its id. Returns the exit code. */
export async function followUp(cli: Cli, deploy: Deploy, isFollowed: boolean): Promise<number> {
  if (isFollowed) return follow(cli, deploy)
  if (cli.out.isJson) cli.out.json(deploy)
  else cli.out.print(plain(deploy.id))
  printNext(cli, `berth logs --deploy ${deploy.id} -f`)
  return 0
}

async function follow(cli: Cli, { id }: Deploy): Promise<number> {
  const { concludeDeploy, followDeploy } = await import('./deploy/follow.ts')
  try {
    return await concludeDeploy(cli, await followDeploy(cli, id))
  } catch (error) {
    const goesOn = `the deploy ${id} continues, or will continue when the server is running again`
    throw withResumeHint(
      error,
      `${goesOn}\nfollow it: berth logs --deploy ${id} -f\nits outcome: berth why ${id}`,
    )
  }
}
