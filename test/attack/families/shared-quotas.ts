import { type Attempt, JSON_TYPE, request } from '../support/attempt.ts';
import type { SchoolStand } from '../support/school-stand.ts';
import type { Family } from '../support/stand.ts';

const GREEDY = '127.201.0.1';

/**
 * One address uses as much as it can of the shared limits, and other addresses must still get their share. The limit on
 * fetches of metadata documents is tested elsewhere, with a simulated network, because it requires name lookups.
 */
export const sharedQuotas: Family<SchoolStand> = {
  name: 'exhaustion of shared limits',
  attempts: () => {
    const registration = (name: string, number: number, from: string, statuses: readonly number[]): Attempt => ({
      name: `${name} ${number}, a registration`,
      from,
      bytes: request('POST', '/api/oauth/register', JSON_TYPE, '{"redirect_uris":["https://app.example/callback"]}'),
      expected: { statuses: [statuses] },
    });
    const times = <T>(count: number, make: (number: number) => T) =>
      Array.from({ length: count }, (_, number) => make(number));
    return [
      ...times(200, (number) => registration('greedy', number, GREEDY, [201, 429])),
      ...times(40, (number) => registration('other', number, `127.203.0.${number + 1}`, [201])),
    ];
  },
};
