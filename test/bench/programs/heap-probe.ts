// Loaded into the daemon before its own code: at SIGUSR2 it says `{ usedMegabytes }`, what its objects need
// once all that nobody uses is gone. Needs node's --expose-gc.

process.on('SIGUSR2', () => {
  globalThis.gc!()
  console.log(JSON.stringify({ usedMegabytes: process.memoryUsage().heapUsed / 1024 / 1024 }))
})
