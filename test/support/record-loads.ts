import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded with `--import`. On exit, the process writes the URLs of its loaded modules to the file named by LOADS, one
 * per line.
 */
const file = process.env.LOADS;
if (isMainThread && file !== undefined) {
  const urls: string[] = [];
  registerHooks({
    load(url, context, next) {
      urls.push(url);
      return next(url, context);
    },
  });
  process.on('exit', () => writeFileSync(file, urls.join('\n')));
}
