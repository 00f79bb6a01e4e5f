import { codePath, readInstalled } from '../../installation.ts';

/** The files of a script, in order: those with functions that it uses, and its own. */
function script(...files: readonly string[]): string {
  return files.map((name) => readInstalled(codePath(`storage/redis/${name}.lua`)).toString('utf8')).join('\n');
}

/** The scripts, as ioredis adds them to its client. It sends their hash, and their text if Redis does not know them. */
export const SCRIPTS = {
  coursegateCommit: script('cluster', 'entries', 'commit'),
  coursegateFindBy: script('cluster', 'find-by'),
  coursegateSweep: script('cluster', 'entries', 'sweep'),
  /** The TIME of the node that has our keys. In a Cluster only a command with a key is sent to that node. */
  coursegateTime: "return redis.call('TIME')",
};
