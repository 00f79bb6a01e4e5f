import cluster from 'node:cluster';

/** Runs a program as workers that share its ports. Arguments: the number of workers, the program, its arguments. */
const [workers = '2', exec = '', ...args] = process.argv.slice(2);
cluster.setupPrimary({ exec, args });
for (let at = 0; at < Number(workers); at += 1) cluster.fork();
process.once('SIGTERM', () => {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.kill('SIGTERM');
});
cluster.on('exit', () => {
  if (Object.keys(cluster.workers ?? {}).length === 0) process.exit();
});
