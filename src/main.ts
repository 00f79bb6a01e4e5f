// First, because it has no effect on what is loaded already.
import '../bin/compile-cache.js';
import { limitHeap } from './commands/heap-limits.ts';

limitHeap();
void import('./commands/program.ts').then(({ runProgram }) => runProgram());
