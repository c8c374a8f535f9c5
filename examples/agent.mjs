// SPDX-License-Identifier: Apache-2.0
// An agent's tool through the command line: runs a shell command with a policy of its own, streams its output, and
// tells a refusal from a failure by the record.
//
//   node agent.mjs 'npm test'
import { spawn } from 'node:child_process'
import { json } from 'node:stream/consumers'

const pinfold = process.env.PINFOLD ?? 'pinfold'

/** Resolves to the record: `ran` says whether the command was executed, `exit` how it ended. */
export async function runCommand(command, { policy = {}, cwd, onOutput = () => {} } = {}) {
	const words = ['run', '--quiet', '--config', 'fd:3', '--record', 'fd:4', '--', 'sh', '-c', command]
	const child = spawn(pinfold, words, { cwd, stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] })
	const [, out, err, config, record] = child.stdio
	const failed = new Promise((_, reject) => child.once('error', reject)) // no pinfold at all
	const ended = new Promise((resolve) => child.once('close', resolve))

	out.on('data', onOutput)
	err.on('data', onOutput)
	config.on('error', () => {}) // it may end before it has read all; the record then says why
	config.end(JSON.stringify(policy))
	const result = json(record)
	await Promise.race([failed, ended])
	return result
}

export function describe({ ran, exit }) {
	if (!ran) return `[not run: ${exit.message}]`
	if (exit.timed_out) return '[time is up]'
	return exit.signal ? `[ended by signal ${exit.signal}]` : `[exit status ${exit.code}]`
}

if (process.argv[1]?.endsWith('agent.mjs')) {
	if (process.argv.length < 3) {
		console.error('usage: agent.mjs COMMAND [TIME]')
		process.exit(1)
	}
	const policy = { network: 'offline', time: process.argv[3] ?? '1m' }
	const record = await runCommand(process.argv[2], { policy, onOutput: (data) => process.stdout.write(data) })
	console.log(describe(record))
}
