// The effects of a datastore, one file for each slot of its chart.
import type { machine } from '../../../machines/datastore/datastore.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { bind } from '../ports.ts'
import { obtainImage } from './kind.ts'
import { awaitBackupTime, beginBackup } from './schedule.ts'
import { startDatastore, stopDatastore } from './start.ts'
import { reclaimDatastore, removeDatastore, saveDatastore, trashDatastore } from './trash.ts'
import { checkUpgrade, copyData, switchVolume, type UpgradePorts, undoUpgrade } from './upgrade.ts'
import { applyLimits, awaitAnswer, keepDatastore } from './upkeep.ts'

export function datastoreEffects(ports: UpgradePorts): Effects<typeof machine> {
  return {
    ...bind(ports, { obtainImage, startDatastore, stopDatastore, awaitAnswer, keepDatastore, applyLimits }),
    ...bind(ports, { awaitBackupTime, beginBackup, saveDatastore, trashDatastore, reclaimDatastore }),
    ...bind(ports, { checkUpgrade, copyData, undoUpgrade, switchVolume, removeDatastore }),
    awaitExpiry,
    async awaitRetry({ wakeAt, code }, signal) {
      // A failure for lack of Docker is retried as soon as the engine is back.
      if (code === 'docker_unavailable') await ports.engineReady(signal)
      else await sleep(Math.max(0, wakeAt - Date.now()), signal)
    },
  }
}
