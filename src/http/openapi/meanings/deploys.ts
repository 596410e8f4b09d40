// Deploys, job runs and schedules.
const overlap =
  'When the next run is due while one still runs: `skip` leaves it out, `queue` lets it wait, `replace` ' +
  'cancels the one that runs.'

export const deployMeanings: Record<string, string> = {
  Deploy: 'One attempt to make a version of a service live.',
  'Deploy.status':
    '`queued`: waits for its turn. `running`: see `phase`. `live`: serves. `deactivated`: served until ' +
    'another deploy was live. `failed`: see `error`; whatever was live before still serves. `canceled`: ' +
    'on request, or because a newer deploy replaced it in the queue.',
  'Deploy.phase':
    'The step of a running deploy, or the one that failed or was canceled. `fetching`: the source. ' +
    '`building` or `pulling`: the image. `preparing`: the pre-deploy command. `starting`: the instances. ' +
    '`checking`: their health. `switching`: the traffic.',
  'Deploy.trigger':
    'What began it. `create`: the creation of the service. `manual`: a request. `upload`: an upload. ' +
    '`restart` and `rollback`: these requests.',
  'Deploy.source': 'What it is made from.',
  'Deploy.source.kind':
    '`git`: a repository. `archive`: an upload. `image`: a pulled image. `reuse`: that of another deploy.',
  'Deploy.source.repo_url': 'The repository, without credentials.',
  'Deploy.source.branch': 'The branch.',
  'Deploy.source.commit': 'The commit that was asked for; null for the head of the branch.',
  'Deploy.source.image': 'The image that was asked for.',
  'Deploy.source.deploy_id': 'The deploy whose image it reuses.',
  'Deploy.image': 'The image that its instances run; null until it is known.',
  'Deploy.port': 'The port that its instances listen on; null until it is known.',
  'Deploy.commit_sha': 'The commit that was built; null until it is known.',
  'Deploy.commit_message': 'The message of that commit.',
  CreateDeploy: 'A deploy of the configured source.',
  Rollback: 'Which deploy to run again.',

  'HistoryEntry.at': 'When the transition was stored.',
  'HistoryEntry.event': 'The event that caused it.',
  'HistoryEntry.state': 'The state of the chart after it, with dots between nested states.',
  'HistoryEntry.status': 'The status of the record after it.',
  'HistoryEntry.phase': 'The phase of the record after it; null without one.',

  JobRun: 'One run of a command in a container of its own.',
  'JobRun.image': 'The image that it runs in.',
  'JobRun.status':
    '`pending`: waits for its turn. `running`: its container runs. `succeeded`: it ended with 0. `failed`: ' +
    'it ended with another code, took too long, or could not start. `canceled`: on request.',
  'JobRun.trigger': '`manual`: a request. `schedule`: the schedule of a cron job.',
  'JobRun.overlap': `${overlap} null for a command that is not the one of a cron job.`,
  'JobRun.timeout_seconds': 'After so many seconds it is ended, and has failed.',
  'JobRun.exit_code': 'How its command ended; null until then, and when it never started.',
  CreateJob: 'A run to begin.',

  Schedule: 'When a cron job runs.',
  'Schedule.schedule': 'Five fields of cron.',
  'Schedule.timezone': 'The time zone of these fields.',
  'Schedule.overlap': overlap,
  'Schedule.last_skip.scheduled_for': 'The instant that was left out.',
  'Schedule.last_skip.at': 'When that was decided.',
  'Schedule.last_skip.reason': 'Why.',
}
