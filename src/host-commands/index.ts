// The commands of `berthd` for people on the host itself. Each is loaded when it is called.
interface HostCommand {
  help(): Promise<string>
  /** Resolves with what to print. */
  run(args: string[]): Promise<string>
}

const backups = () => import('./server-backups.ts')
const doctor = () => import('./doctor.ts')
const password = () => import('./reset-password.ts')
const setup = () => import('./setup-link.ts')

export const hostCommands: Record<string, HostCommand | undefined> = {
  activate: {
    help: async () => (await backups()).activateHelp,
    run: async (args) => (await backups()).activateCommand(args),
  },
  backup: {
    help: async () => (await backups()).backupHelp,
    run: async (args) => (await backups()).backupCommand(args, process.stdin),
  },
  'backup-key': {
    help: async () => (await backups()).backupKeyHelp,
    run: async (args) => (await backups()).backupKeyCommand(args),
  },
  doctor: {
    help: async () => (await doctor()).doctorHelp,
    run: async (args) => (await doctor()).doctorCommand(args),
  },
  'reset-password': {
    help: async () => (await password()).resetPasswordHelp,
    run: async (args) => (await password()).resetPassword(args, process.stdin),
  },
  restore: {
    help: async () => (await backups()).restoreHelp,
    run: async (args) => (await backups()).restoreCommand(args, process.stdin),
  },
  'setup-link': {
    help: async () => (await setup()).setupLinkHelp,
    run: async (args) => (await setup()).setupLink(args),
  },
}
