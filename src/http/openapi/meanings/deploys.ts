// Deploys, job runs and schedules.
const overlap =
  'What happens when a run is due during another run: `skip` skips it, `queue` queues it, `replace` ' +
  'cancels the active run.'

export const deployMeanings: Record<string, string> = {
  Deploy: 'One attempt to make a version of a service live.',
  'Deploy.status':
    '`queued`: waiting for its turn. `running`: see `phase`. `live`: serving. `deactivated`: served until ' +
    'another deploy was live. `failed`: see `error`; a previous live deploy still serves. `canceled`: ' +
    'on request, or replaced in the queue by a newer deploy.',
  'Deploy.phase':
    'The phase of a running deploy, or the phase that failed or was canceled. `fetching`: the source. ' +
    '`building` or `pulling`: the image. `preparing`: the pre-deploy command. `starting`: the instances. ' +
    '`checking`: their health. `switching`: the traffic.',
  'Deploy.trigger':
    'What triggered the deploy. `create`: the creation of the service. `manual`: a request. `upload`: an ' +
    'upload. `restart` and `rollback`: the request of that name.',
  'Deploy.source': 'The source of the deploy.',
  'Deploy.source.kind':
    '`git`: a repository. `archive`: an upload. `image`: a pulled image. `reuse`: the image of ' +
    'another deploy.',
  'Deploy.source.repo_url': 'The repository, without credentials.',
  'Deploy.source.branch': 'The branch.',
  'Deploy.source.commit': 'The requested commit or tag; null for the head of the branch.',
  'Deploy.source.image': 'The requested image.',
  'Deploy.source.deploy_id': 'The deploy whose image is reused.',
  'Deploy.image': 'The image of its instances; null until known.',
  'Deploy.port': 'The port of its instances; null until known.',
  'Deploy.warnings.code': 'The kind of warning.',
  'Deploy.commit_sha': 'The commit that was built; null until known.',
  'Deploy.commit_message': 'The message of that commit.',
  CreateDeploy: 'A deploy of the configured source.',
  Rollback: 'The deploy to roll back to.',

  'HistoryEntry.at': 'When the transition was stored.',
  'HistoryEntry.event': 'The event that caused it.',
  'HistoryEntry.state': 'The state of the chart after the transition; nested states are separated by dots.',
  'HistoryEntry.status': 'The status of the record after the transition.',
  'HistoryEntry.phase': 'The phase of the record after the transition; null without one.',

  JobRun: 'One run of a command in its own container.',
  'JobRun.image': 'The image of the container.',
  'JobRun.status':
    '`pending`: waiting for its turn. `running`: its container runs. `succeeded`: exit code 0. `failed`: ' +
    'another exit code, a timeout, or a failed start. `canceled`: on request.',
  'JobRun.trigger': '`manual`: a request. `schedule`: the schedule of a cron job.',
  'JobRun.overlap': `${overlap} null for a command other than the cron job's own.`,
  'JobRun.timeout_seconds': 'Seconds after which the run is stopped and fails.',
  'JobRun.exit_code': 'The exit code of the command; null while it runs, and if it never started.',
  CreateJob: 'A new run.',

  Schedule: 'When a cron job runs.',
  'Schedule.schedule': 'Five cron fields.',
  'Schedule.timezone': 'The time zone of the schedule.',
  'Schedule.overlap': overlap,
  'Schedule.last_skip.scheduled_for': 'The scheduled time that was skipped.',
  'Schedule.last_skip.at': 'When it was skipped.',
  'Schedule.last_skip.reason': 'Why.',
}
