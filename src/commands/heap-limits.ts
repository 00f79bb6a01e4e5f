import { totalmem } from 'node:os';
import { isSea } from 'node:sea';
import { setFlagsFromString } from 'node:v8';

/**
 * Of each half of V8's young generation, in MiB. By default V8 lets it grow to 64, where it stays, nearly empty, after a few
 * hundred sign-ins. In a container of up to 512 MiB it takes 1, which costs a fifth more CPU time than 4.
 */
export const SEMI_SPACE = '--max-semi-space-size=4';

/**
 * How much V8 lets the old generation grow before it collects garbage there, of what was live at the last collection: without
 * it up to 300 %, and 30 MiB more after a few hundred sign-ins. With 20 %, collections while a large response is read block the
 * event loop for over 50 ms. V8 reads it before each collection.
 */
const GROWTH = '--heap-growing-percent=50';

/** Of the memory of a container. The rest is Node itself, the young generation, buffers, and pages of the store. */
const SHARE_OF_HEAP = 0.6;

/**
 * Node's options for a process that runs for long. In a container, V8 collects garbage before the kernel ends the process.
 *
 * @param limit - Bytes of the container; 0, or above the machine's `total`, without a limit.
 */
export function heapOptions(limit = process.constrainedMemory(), total = totalmem()): readonly string[] {
  const limited = limit > 0 && limit < total;
  return [SEMI_SPACE, ...(limited ? [`--max-old-space-size=${Math.floor((limit * SHARE_OF_HEAP) / 2 ** 20)}`] : [])];
}

/**
 * V8 reads the limits of its heap only when Node starts: without them, this process starts again under its id. What starts Node
 * for us gives it the first limit. The operator's NODE_OPTIONS win over both.
 */
export function limitHeap(): void {
  const { argv, argv0, env, execArgv, execPath } = process;
  // Other commands end before it matters.
  if (!argv.includes('serve') && !argv.includes('demo')) return;
  setFlagsFromString(GROWTH);
  const { NODE_OPTIONS = '' } = env;
  // A parent with a channel to this process would lose it, and the binary has its options built in.
  if (process.send !== undefined || isSea()) return;
  const others = execArgv.filter((option) => option !== SEMI_SPACE);
  const isGiven = others.length < execArgv.length;
  const startAgain = (options: string) => {
    try {
      process.execve?.(execPath, [argv0, ...others, ...argv.slice(1)], { ...env, NODE_OPTIONS: options });
    } catch {
      // Windows cannot replace a process. It then only needs more memory.
    }
  };
  const [size] = /--max.semi.space.size\S*/.exec(`${NODE_OPTIONS} ${others.join(' ')}`) ?? [];
  if (size === undefined) {
    const limits = heapOptions();
    if (!isGiven || limits.length > 1) startAgain([...limits, NODE_OPTIONS].join(' ').trim());
  } else if (isGiven && size !== SEMI_SPACE) {
    // What Node was started with would win over NODE_OPTIONS.
    startAgain(NODE_OPTIONS);
  }
}
