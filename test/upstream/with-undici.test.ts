import { useClient } from './gate.ts';

// The suites of everything that depends on the client, again with the other one.
useClient('undici');
await import('./admission.test.ts');
await import('./body-limit.test.ts');
await import('./breaker.test.ts');
await import('./failures.test.ts');
await import('./faults.test.ts');
await import('./odd-answers.test.ts');
await import('./site-admission.test.ts');
await import('./streaming.test.ts');
