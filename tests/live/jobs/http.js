// SPDX-License-Identifier: Apache-2.0
// A server and its client in one command, on loopback.
const http = require('node:http');

const server = http.createServer((request, answer) => answer.end(`you asked for ${request.url}\n`));
server.listen(0, '127.0.0.1', async () => {
	const answer = await fetch(`http://127.0.0.1:${server.address().port}/page`);
	process.stdout.write(await answer.text());
	server.closeAllConnections();
	server.close();
});
