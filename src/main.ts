import { keepCompiledCode } from './commands/compile-cache.ts';

// First, because it has no effect on what is loaded already.
keepCompiledCode();
void import('./commands/program.ts').then(({ runProgram }) => runProgram());
