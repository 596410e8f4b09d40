// Offers the repositories and branches of connected accounts. Without an account, and with older servers,
// the address is typed.
import type { GitBranches, GitConnection, GitRepositories } from '../../api/git-connection.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes } from '../failure.ts'
import { askSourceAddress } from '../service/questions.ts'
import { type Choice, pick, search } from '../terminal/prompts.ts'

/** A choice that no address equals. */
const typed = ''

/** The repository, and the branch if it was chosen from a list. */
export async function chooseRepository(cli: Cli, instead: string): Promise<Record<string, string>> {
  const connections = await optional<GitConnection[]>(cli, '/git/connections')
  const usable = (connections ?? []).filter(({ status }) => status === 'connected')
  const account = usable.length === 0 ? null : await chooseAccount(cli, usable, instead)
  const repo_url = account === null ? typed : await chooseFrom(cli, account, instead)
  if (repo_url === typed) return { repo_url: await askSourceAddress(cli, 'repo_url', instead) }
  const branch = await chooseBranch(cli, repo_url, instead)
  return { repo_url, ...(branch === null ? {} : { branch }) }
}

/** The only account is not asked for. */
async function chooseAccount(cli: Cli, accounts: GitConnection[], instead: string): Promise<GitConnection> {
  const [only, ...others] = accounts
  if (others.length === 0) return only!
  const choices = accounts.map(({ id, account, base_url }) => ({
    value: id,
    label: account ?? id,
    hint: base_url,
  }))
  const id = await pick(cli, { message: 'Which account?', instead, choices })
  return accounts.find((one) => one.id === id)!
}

async function chooseFrom(cli: Cli, { id }: GitConnection, instead: string): Promise<string> {
  const path = `/git/connections/${encodeURIComponent(id)}/repositories`
  const listed = await optional<GitRepositories>(cli, path)
  const repositories = (listed?.repositories ?? []).filter(({ archived }) => !archived)
  if (repositories.length === 0) return typed
  const choices = repositories.map(
    ({ clone_url, full_name, private: isPrivate }): Choice => ({
      value: clone_url,
      label: full_name,
      ...(isPrivate ? { hint: 'private' } : {}),
    }),
  )
  const other = { value: typed, label: 'another repository', hint: 'type its address' }
  return search(cli, { message: 'Which repository?', instead, choices: [...choices, other] })
}

/** Null for the default branch: the service then keeps the name that the first deploy finds. */
async function chooseBranch(cli: Cli, repoUrl: string, instead: string): Promise<string | null> {
  const found = await optional<GitBranches>(cli, `/git/branches?repo_url=${encodeURIComponent(repoUrl)}`)
  const branches = found?.branches ?? []
  if (branches.length < 2) return null
  const choices = branches.map(
    (name): Choice => ({
      value: name,
      label: name,
      ...(name === found?.default_branch ? { hint: 'default' } : {}),
    }),
  )
  return search(cli, { message: 'Which branch?', instead, choices })
}

/** Null if the server refuses: the address can still be typed. */
async function optional<T>(cli: Cli, path: string): Promise<T | null> {
  try {
    return await cli.client.call<T>('GET', path)
  } catch (error) {
    if (error instanceof CliFailure && error.exitCode !== exitCodes.unreachable) return null
    throw error
  }
}
