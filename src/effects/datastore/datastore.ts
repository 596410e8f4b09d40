// The effects of a datastore, one file for each slot of its chart.
import type { machine } from '../../../machines/datastore/datastore.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import { obtainImage } from './image.ts'
import { awaitBackupTime, startBackup } from './schedule.ts'
import { startDatastore, stopDatastore } from './start.ts'
import { reclaimDatastore, removeDatastore, saveDatastore, trashDatastore } from './trash.ts'
import { checkUpgrade, copyData, switchVolume, type UpgradePorts, undoUpgrade } from './upgrade.ts'
import { applyLimits, awaitAnswer, keepDatastore } from './upkeep.ts'

export function datastoreEffects(ports: UpgradePorts): Effects<typeof machine> {
  return {
    obtainImage: obtainImage(ports),
    startDatastore: startDatastore(ports),
    stopDatastore: stopDatastore(ports),
    awaitAnswer: awaitAnswer(ports),
    keepDatastore: keepDatastore(ports),
    applyLimits: applyLimits(ports),
    awaitBackupTime: awaitBackupTime(ports),
    beginBackup: startBackup(ports),
    saveDatastore: saveDatastore(ports),
    trashDatastore: trashDatastore(ports),
    awaitExpiry,
    reclaimDatastore: reclaimDatastore(ports),
    checkUpgrade: checkUpgrade(ports),
    copyData: copyData(ports),
    undoUpgrade: undoUpgrade(ports),
    switchVolume: switchVolume(ports),
    removeDatastore: removeDatastore(ports),
    async awaitRetry({ wakeAt, code }, signal) {
      // A failure for lack of Docker is retried as soon as the engine is back.
      if (code === 'docker_unavailable') await ports.engineReady(signal)
      else await sleep(Math.max(0, wakeAt - Date.now()), signal)
      return { at: isoNow() }
    },
  }
}
