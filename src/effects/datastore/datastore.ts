// The effects of a datastore, one file for each thing its chart asks for.
import type { machine } from '../../../machines/datastore/datastore.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { type Host, isoNow } from '../host.ts'
import { obtainImage } from './image.ts'
import { applyLimits } from './limits.ts'
import { awaitAnswer } from './probe.ts'
import { removeDatastore } from './removal.ts'
import { awaitBackupTime, beginBackup } from './schedule.ts'
import { startDatastore, stopDatastore } from './start.ts'
import { reclaimDatastore, saveDatastore, trashDatastore } from './trash.ts'
import { keepDatastore } from './upkeep.ts'

export function datastoreEffects(host: Host): Effects<typeof machine> {
  return {
    obtainImage: obtainImage(host),
    startDatastore: startDatastore(host),
    stopDatastore: stopDatastore(host),
    awaitAnswer: awaitAnswer(host),
    keepDatastore: keepDatastore(host),
    applyLimits: applyLimits(host),
    awaitBackupTime: awaitBackupTime(host),
    beginBackup: beginBackup(host),
    saveDatastore: saveDatastore(host),
    trashDatastore: trashDatastore(host),
    awaitExpiry,
    reclaimDatastore: reclaimDatastore(host),
    removeDatastore: removeDatastore(host),
    async awaitRetry({ wakeAt, code }, signal) {
      // What only lacks Docker goes on as soon as that is back.
      if (code === 'docker_unavailable') await host.ready(signal)
      else await sleep(Math.max(0, wakeAt - Date.now()), signal)
      return { at: isoNow() }
    },
  }
}
