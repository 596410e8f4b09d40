// Preloaded into the daemon. On SIGUSR2 it prints the megabytes of heap in use after a garbage collection.
// Needs --expose-gc.
process.on('SIGUSR2', () => {
  globalThis.gc!()
  console.log(JSON.stringify({ usedMegabytes: process.memoryUsage().heapUsed / 1024 / 1024 }))
})
