import { networkOf } from '../http/client-network.ts';
import { currentRequest } from '../http/current-request.ts';
import type { PasswordHash } from './password-hash.ts';

/** Verifies hashes, so many at a time. */
export interface Hashing {
  /** Out: whether the password fits; `busy` when so many wait already that this one would wait too long. */
  verify(hash: PasswordHash, password: string): Promise<boolean | 'busy'>;
}

/** Half of the thread pool: the other half signs tokens, finds names and reads files for everybody else. */
const AT_ONCE = 2;
const WAITING = 32;

interface Waiting {
  readonly network: string;
  readonly go: (turn: 'mine' | 'busy') => void;
}

/**
 * A storm of sign-ins waits in line, and the gate goes on. The line is shared fairly between client networks: one that
 * sends more takes its turns, and gives up places when the line is full, after those that send less.
 */
export function createHashing({ atOnce = AT_ONCE, waiting = WAITING } = {}): Hashing {
  let line: Waiting[] = [];
  let under = 0;
  /** Whose turns were the last ones. */
  let served: string[] = [];

  const inLine = (network: string): number => line.filter((one) => one.network === network).length;

  /** The network that had the fewest turns lately goes first; within one, who came first. */
  const next = (): Waiting | undefined => {
    const turns = ({ network }: Waiting) => served.filter((one) => one === network).length;
    const [chosen] = line.toSorted((a, b) => turns(a) - turns(b));
    line = line.filter((one) => one !== chosen);
    if (chosen !== undefined) served = [...served, chosen.network].slice(-waiting);
    return chosen;
  };

  /** Out: whether somebody who has more in the line made room for this network. */
  const makeRoom = (network: string): boolean => {
    const most = Math.max(...line.map((one) => inLine(one.network)));
    const last = line.findLast((one) => inLine(one.network) === most);
    if (last === undefined || most <= inLine(network) + 1) return false;
    line = line.filter((one) => one !== last);
    last.go('busy');
    return true;
  };

  const turn = (network: string): Promise<'mine' | 'busy'> | 'busy' => {
    if (line.length >= waiting && !makeRoom(network)) return 'busy';
    return new Promise((go) => line.push({ network, go }));
  };

  return {
    async verify(hash, password) {
      if (under < atOnce) under += 1;
      // Who is let in takes over the place of who left: nobody slips in between.
      else if ((await turn(networkOf(currentRequest()?.provenance.clientAddress ?? ''))) === 'busy') return 'busy';
      try {
        return await hash.verify(password);
      } finally {
        const after = next();
        if (after === undefined) under -= 1;
        else after.go('mine');
      }
    },
  };
}
