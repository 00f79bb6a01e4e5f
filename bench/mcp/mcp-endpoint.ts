import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../src/config/load.ts';
import { openInterfaces } from '../../src/generation/interfaces.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { createProvenance } from '../../src/http/provenance.ts';
import { RequestRecord } from '../../src/http/request-record.ts';
import type { MemberPrincipal } from '../../src/oauth/principal.ts';
import { createAudit } from '../../src/operations/audit.ts';
import { createLog } from '../../src/operations/log.ts';
import { NO_ROLES } from '../../src/roles/roles.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { memoryCounters } from '../../src/storage/memory-counters.ts';
import { ANSWER } from './mcp-tools.ts';

/** Our endpoint with the tools and defaults of the demo, the audit log in a file, and without the gate in front. */
const port = process.env.PORT ?? '';
const loaded = await loadConfig({
  file: fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url)),
  environment: { PORT: port, COURSEGATE_PROFILE: 'A', COURSEGATE__MCP__FILE: process.env.TOOLS ?? '' },
});
const foundation = {
  store: memoryStore(Date.now),
  counters: memoryCounters(Date.now),
  clock: Date.now,
  secret: '',
  log: createLog('error', 2),
};
const { mcp } = await openInterfaces(foundation, loaded, {
  call: async () => ({ status: 200, headers: {}, body: ANSWER }),
  rolesOf: NO_ROLES.of,
  audit: createAudit(createLog('info', 1), Date.now),
});
if (mcp === undefined) throw new Error('there are no tools');
const handler = mcp.handler(mcp.endpoints.open.plain);
const provenanceOf = createProvenance(loaded.config.listen);
const principal: MemberPrincipal = {
  kind: 'member',
  sub: 'm-1001',
  details: { email: 'student@example.com', name: 'Sam' },
  scope: new Set(['account:read']),
  clientId: 'client-1',
  grantId: 'grant-1',
};
createServer((request, response) => {
  const provenance = provenanceOf(request);
  const exchange: Exchange = {
    request,
    response,
    target: { path: '/mcp', query: '' },
    principal,
    provenance,
    record: new RequestRecord(provenance, 'POST', '/mcp'),
    ownFields: [],
  };
  Promise.resolve(handler(exchange)).catch(() => response.writeHead(500).end());
}).listen(Number(port), '127.0.0.1');
// The CPU profile is written only if the process exits normally.
process.once('SIGTERM', () => process.exit());
