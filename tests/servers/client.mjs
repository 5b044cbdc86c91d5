// A client of @modelcontextprotocol/sdk: starts the server that its arguments name, calls a tool if
// MCPWAKE_TEST_CALL gives one, says READY, sends MCPWAKE_TEST_REQUESTS requests one after the other and
// says how many were answered, and stays.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'mcpwake-test', version: '1' }, { capabilities: {} });
setInterval(() => {}, 1e6);
await client.connect(new StdioClientTransport({ command, args }));
await client.listTools();
if (process.env.MCPWAKE_TEST_CALL) {
  // Never answered while the test runs; how it ends is of no interest.
  client.callTool(JSON.parse(process.env.MCPWAKE_TEST_CALL), undefined, { timeout: 86400e3 }).catch(() => {});
}
console.log('READY');
let answered = 0;
for (let left = Number(process.env.MCPWAKE_TEST_REQUESTS ?? 0); left > 0; left--) {
  answered += (await client.listTools()).tools.length > 0 ? 1 : 0;
}
console.log(`ANSWERED ${answered}`);
