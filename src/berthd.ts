// berthd: reads the options, starts the daemon, stops it on the first signal, and exits on the second.
import { type Config, helpText, readConfig, removedOptionWarnings } from './config/config.ts'
import { compareConfig, rereadConfig } from './config/reload.ts'
import { type Daemon, startDaemon } from './daemon/daemon.ts'
import { codeOf, messageOf } from './errors.ts'
import { hostCommands } from './host-commands/index.ts'
import { createLogger, type Logger } from './logger.ts'
import { ownEndFile, recordOwnEnd, reportHeapExhaustion } from './own-end.ts'
import { openSystemd, type Systemd, takeDescriptor } from './systemd.ts'
import { version } from './version.ts'
import { startWatchdog } from './watchdog.ts'

/** The exit codes of the command line; all other failures exit with 1. */
const exitCodes: Record<string, number> = { invalid_option: 2, interrupted: 130 }
/** Longer than any legitimate block of the event loop, also on a host that swaps. */
const hangLimitSeconds = 60

async function main(): Promise<void> {
  const args = process.argv.slice(2)
  const command = hostCommands[args[0] ?? '']
  if (args.includes('--help') || args.includes('-h')) {
    return void process.stdout.write(command ? await command.help() : helpText())
  }
  if (args.includes('--version')) return void process.stdout.write(`${version}\n`)
  if (command) return print(await command.run(args.slice(1)))
  const config = readConfig(args, process.env)
  const dataDir = config['data-dir']
  const journal = takeDescriptor(process.env, 'BERTH_JOURNAL_FD')
  const logger = createLogger({ level: config['log-level'], format: config['log-format'], journal })
  const systemd = openSystemd()
  for (const warning of removedOptionWarnings(args, process.env)) logger.warn(warning)
  const onFatal = (reason: string) => {
    logger.fatal(reason)
    process.exit(1)
  }
  // `process.exit` would hang if lmdb's writer is stuck, or waits for this thread.
  const killSelf = () => process.kill(process.pid, 'SIGKILL')
  const onPanic = (reason: string) => {
    logger.fatal(`${reason}; berthd exits, and continues from disk at its next start`)
    killSelf()
  }
  // A bug, or an unhandled rejection: the state in memory can no longer be trusted, the state on disk can.
  process.on('uncaughtException', (err) => {
    logger.fatal({ err }, 'berthd exits because of a bug; it continues from disk at its next start')
    recordOwnEnd(dataDir, 'uncaught_error')
    killSelf()
  })
  reportHeapExhaustion(dataDir)
  // Before the start: actors read foreign input as soon as they resume.
  const stopWatchdog = startWatchdog({ limitSeconds: hangLimitSeconds, endFile: ownEndFile(dataDir) })
  const starting = startDaemon({ config, logger, onFatal, onPanic })
  let isStopping = false
  const stop = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(130)
    isStopping = true
    systemd.stopping()
    logger.info(
      { signal },
      'stopping: open requests have 10 s to finish; running deploys continue at the next start',
    )
    starting
      .then((daemon) => daemon.stop())
      .then(
        () => process.exit(0),
        (error: unknown) => onFatal(messageOf(error)),
      )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  const daemon = await starting
  await daemon.ready
  if (isStopping) return
  const status = `berthd ${version} listens on ${daemon.url}`
  systemd.ready(status)
  if (systemd.isWatching) stopWatchdog()
  const runDir = process.env.RUNTIME_DIRECTORY
  // Elsewhere the signal ends the daemon with its terminal.
  if (runDir !== undefined) reloadOnSignal({ config, runDir, daemon, logger, systemd, status })
}

interface Reloading {
  config: Config
  /** Where `systemctl reload` writes the options. */
  runDir: string
  daemon: Daemon
  logger: Logger & { level: string }
  systemd: Systemd
  status: string
}

function reloadOnSignal({ config, runDir, daemon, logger, systemd, status }: Reloading): void {
  let current = config
  process.on('SIGHUP', async () => {
    systemd.reloading()
    try {
      const next = await rereadConfig(process.argv.slice(2), process.env, runDir)
      const { changed, needRestart } = compareConfig(current, next)
      current = { ...current, ...Object.fromEntries(changed.map((name) => [name, next[name]])) }
      daemon.reload(current)
      logger.level = current['log-level']
      logger.info({ changed }, 'the options were read again')
      if (needRestart.length > 0) logger.warn({ options: needRestart }, 'these options need a restart')
    } catch (error) {
      logger.error({ reason: messageOf(error) }, 'the options are as before')
    }
    systemd.ready(status)
  })
}

function print(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`)
}

main().catch((error: unknown) => {
  const hint = (error as { hint?: string }).hint
  // A daemon that started this process stores the code.
  const code = process.argv.includes('--for-daemon') ? `[${codeOf(error)}] ` : ''
  process.stderr.write(`berthd: ${code}${messageOf(error)}\n${hint ? `  ${hint}\n` : ''}`)
  process.exit(exitCodes[(error as { code?: string }).code ?? ''] ?? 1)
})
