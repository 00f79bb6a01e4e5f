import { networkOf } from '../http/client-network.ts';
import { currentRequest } from '../http/current-request.ts';
import type { PasswordHash } from './password-hash.ts';

/** Verifies password hashes with limited concurrency. */
export type Hashing = ReturnType<typeof createHashing>;

/** Retry-After in seconds when too many passwords are waiting. */
export const BUSY_SECONDS = 5;
/** Half of the thread pool. The other half is left for signing tokens, DNS lookups and file access. */
const AT_ONCE = 2;
const WAITING = 32;

interface Waiting {
  readonly network: string;
  readonly resolve: (turn: 'mine' | 'busy') => void;
}

/**
 * Queues bursts of sign-ins, so that the rest of the gate keeps working. The queue is shared fairly between client
 * networks: one that sends more is served after those that send less, and loses its places first when the queue is full.
 */
export function createHashing({ atOnce = AT_ONCE, waiting = WAITING } = {}) {
  let queue: Waiting[] = [];
  let running = 0;
  /** The networks that were served most recently. */
  let served: string[] = [];

  const inQueue = (network: string): number => queue.filter((one) => one.network === network).length;

  /** Takes the next entry: from the network with the fewest recent turns, and within a network the oldest. */
  const next = (): Waiting | undefined => {
    const turns = ({ network }: Waiting) => served.filter((one) => one === network).length;
    const [chosen] = queue.toSorted((a, b) => turns(a) - turns(b));
    queue = queue.filter((one) => one !== chosen);
    if (chosen !== undefined) served = [...served, chosen.network].slice(-waiting);
    return chosen;
  };

  /** Drops the newest entry of the network with the most entries, if it has more than this one. Returns whether it did. */
  const makeRoom = (network: string): boolean => {
    const most = Math.max(...queue.map((one) => inQueue(one.network)));
    const last = queue.findLast((one) => inQueue(one.network) === most);
    if (last === undefined || most <= inQueue(network) + 1) return false;
    queue = queue.filter((one) => one !== last);
    last.resolve('busy');
    return true;
  };

  const turn = (network: string): Promise<'mine' | 'busy'> | 'busy' => {
    if (queue.length >= waiting && !makeRoom(network)) return 'busy';
    return new Promise((resolve) => queue.push({ network, resolve }));
  };

  return {
    /** Whether the password matches; `busy` when too many are already waiting. */
    async verify(hash: PasswordHash, password: string): Promise<boolean | 'busy'> {
      if (running < atOnce) running += 1;
      // A finished verification hands its slot directly to the next in line, so no newcomer can take it.
      else if ((await turn(networkOf(currentRequest()?.provenance.clientAddress ?? ''))) === 'busy') return 'busy';
      try {
        return await hash.verify(password);
      } finally {
        const after = next();
        if (after === undefined) running -= 1;
        else after.resolve('mine');
      }
    },
  };
}
