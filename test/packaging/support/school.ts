/** The demo's school as a process: `node school.ts PORT`. Prints `ready` when it listens. */
import { startSchool } from '../../../src/operator/demo/school.ts';

await startSchool({ ports: { school: Number(process.argv[2]), progress: 0, events: 0 }, gate: () => undefined });
console.log('ready');
