/** The demo's school as a process, behind the gate of the install page: `node school.ts PORT`. Prints `ready` when it listens. */
import { startSchool } from '../../../src/operator/demo/school.ts';

await startSchool({
  ports: { school: Number(process.argv[2]), progress: 0, events: 0 },
  gate: () => ({ issuer: 'https://school.example', jwksUrl: 'http://127.0.0.1:8080/.well-known/jwks.json' }),
});
console.log('ready');
