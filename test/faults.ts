// npm run faults: injects every fault of the store, the disk and the engine at every point; `npm test`
// tries a few.
//   npm run faults -- engine      the files whose path contains the word
process.env.BERTH_TEST_ALL = '1'
const words = process.argv.slice(2)
const files = words.length > 0 ? words.map((word) => `faults/${word}`) : ['faults/']
process.argv.splice(2, words.length, '--test-timeout=7200000', ...files)
await import('./run.ts')
