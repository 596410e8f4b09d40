// What starts a Ruby app: Rails, a server of Rack, or its main file.
import type { Reasoned } from '../../recipe.ts'
import type { Tree } from '../../tree.ts'

const mainFiles = ['app.rb', 'main.rb', 'server.rb', 'bot.rb']

/** In order. The first two are preferred to the one that Rack brings. */
const servers: Record<string, string> = {
  puma: 'bundle exec puma --bind tcp://0.0.0.0:$PORT',
  falcon: 'bundle exec falcon serve --bind http://0.0.0.0:$PORT',
  unicorn: 'bundle exec unicorn --listen 0.0.0.0:$PORT',
  thin: 'bundle exec thin start --address 0.0.0.0 --port $PORT',
  rackup: 'bundle exec rackup --host 0.0.0.0 --port $PORT',
  webrick: 'bundle exec rackup --host 0.0.0.0 --port $PORT',
}

/** By the gem that runs jobs. */
const workers: Record<string, string> = {
  sidekiq: 'bundle exec sidekiq',
  good_job: 'bundle exec good_job start',
  solid_queue: 'bundle exec rake solid_queue:start',
}

export function findWorker(gems: Map<string, string>): Reasoned | null {
  const gem = Object.keys(workers).find((one) => gems.has(one))
  return gem ? { command: workers[gem] ?? '', reason: `${gem} is among the gems` } : null
}

export function findStart(app: Tree, gems: Map<string, string>): Reasoned | { problem: string } {
  if (gems.has('rails') && app.has('bin/rails'))
    return { command: 'bin/rails server --binding 0.0.0.0 --port $PORT', reason: 'Rails is among the gems' }
  const server = Object.keys(servers).find((gem) => gems.has(gem))
  if (app.has('config.ru'))
    return server
      ? { command: servers[server] ?? '', reason: `config.ru, and ${server} is among the gems` }
      : { problem: 'config.ru is there, but no server is among the gems: add puma' }
  const main = app.first(...mainFiles)
  if (main === null)
    return { problem: 'Gemfile is there, but no Rails, no config.ru and no app.rb or main.rb' }
  const isSinatra = /^\s*require ['"]sinatra['"]/m.test(app.text(main))
  return isSinatra
    ? { command: `bundle exec ruby ${main} -o 0.0.0.0 -p $PORT`, reason: `Sinatra in ${main}` }
    : { command: `bundle exec ruby ${main}`, reason: 'the main file' }
}
