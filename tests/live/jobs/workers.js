// SPDX-License-Identifier: Apache-2.0
// Ten worker threads, each of which adds its number to memory that all of them share.
'use strict'
const { Worker, isMainThread, workerData } = require('worker_threads')

if (isMainThread) {
	const shared = new SharedArrayBuffer(4)
	let left = 10
	for (let i = 1; i <= 10; i++)
		new Worker(__filename, { workerData: { shared, i } }).on('exit', code => {
			if (code !== 0) process.exit(1)
			if (--left === 0) console.log('the sum is', new Int32Array(shared)[0])
		})
} else {
	Atomics.add(new Int32Array(workerData.shared), 0, workerData.i)
}
