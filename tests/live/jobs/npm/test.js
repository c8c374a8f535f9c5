// SPDX-License-Identifier: Apache-2.0
const assert = require('node:assert');
const fs = require('node:fs');
const greet = require('pinfold-greeting');

assert.strictEqual(greet('pen'), 'hello, pen');
fs.writeFileSync('report.txt', 'tested\n');
