import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/** By `--import`: what a process has loaded by the time it ends stands in the file that LOADS names, a URL a line. */
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
