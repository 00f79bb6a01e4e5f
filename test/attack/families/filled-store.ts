import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { authorizationRequest, registerApp, revoke } from '../../support/app.ts';
import { connect, refreshForm, token } from '../../support/connection.ts';
import { type Attempt, FORM_TYPE, form, lines, refused, request } from '../support/attempt.ts';
import type { SchoolStand } from '../support/school-stand.ts';
import type { Family } from '../support/stand.ts';

const KIB = 1024;
const PUSHES = 2_400;
/**
 * The most that the attack may leave on disk: 4 MiB for the network that pushes and about 1 MiB for the one that opens
 * sign-ins, at most twice as much with indexes, and some room to grow. Without the quota it would be more than 20 MiB.
 */
const MOST = 12 * KIB * KIB;

/** An anonymous app pushes requests and opens sign-ins without end, of the largest accepted size and larger. */
export const filledStore: Family<SchoolStand> = {
  name: 'filling the store',
  async attempts(stand) {
    const app = await registerApp(stand.origin);
    const base = Object.fromEntries(new URL((await authorizationRequest(app)).url).searchParams);
    sizes.set(stand, sizeOf(stand.data));
    const push = (
      name: string,
      fields: Record<string, string>,
      expected: Attempt['expected'],
      from?: string,
    ): Attempt => ({
      name,
      bytes: request('POST', '/api/oauth/par', FORM_TYPE, form({ ...base, ...fields })),
      expected,
      ...(from === undefined ? {} : { from }),
    });
    const open = (name: string, fields: Record<string, string>, expected: Attempt['expected']): Attempt => ({
      name,
      bytes: request('GET', `/oauth/authorize?${form({ ...base, ...fields })}`, lines('Accept: text/html')),
      expected,
    });
    const invalid = { ...refused(400), has: /"error":"invalid_request"/ };
    const page = { ...refused(400), lacks: /\r\nlocation:/i };
    return [
      push('a pushed state of 2 KiB', { state: 's'.repeat(2 * KIB) }, { statuses: [201] }),
      push('a pushed state of 2 KiB and a byte', { state: 's'.repeat(2 * KIB + 1) }, invalid),
      push('a pushed state of 15 KiB', { state: 's'.repeat(15 * KIB) }, invalid),
      push(
        'a pushed state of 50 KB',
        { state: 's'.repeat(50_000) },
        { ...refused([400, 413]), has: /"error":"invalid_request"/ },
      ),
      push('a pushed nonce of 15 KiB', { nonce: 's'.repeat(15 * KIB) }, invalid),
      push('a pushed login_hint of 15 KiB', { login_hint: 's'.repeat(15 * KIB) }, invalid),
      push(
        'a pushed request of 17 KiB',
        { x: 's'.repeat(17 * KIB) },
        { ...refused([400, 413]), has: /"error":"invalid_request"/ },
      ),
      open('a state of 2 KiB and a byte', { state: 's'.repeat(2 * KIB + 1) }, page),
      open('a state of 7 KB', { state: 's'.repeat(7_000) }, page),
      open('a nonce of 7 KB', { nonce: 's'.repeat(7_000) }, page),
      ...Array.from({ length: PUSHES }, (_, number) =>
        // One client, from one address.
        push(
          `pushed request ${number}`,
          { state: 's'.repeat(2 * KIB), nonce: `${number}`.padEnd(1_000, 'n'), x: 'x'.repeat(8 * KIB) },
          { statuses: [[201, 400, 429, 503]] },
          '127.200.0.1',
        ),
      ),
      ...Array.from(
        { length: 300 },
        (_, number): Attempt => ({
          ...open(
            `opened sign-in ${number}`,
            { state: `${number}`.padEnd(2 * KIB, 's') },
            { statuses: [[303, 400, 429, 503]] },
          ),
          from: '127.200.0.2',
        }),
      ),
    ];
  },
  // Entries of anonymous clients are limited, and members' apps can still refresh and revoke.
  async after(stand) {
    const flaws: string[] = [];
    const grown = sizeOf(stand.data) - (sizes.get(stand) ?? 0);
    if (grown > MOST) flaws.push(`the store grew by ${grown} bytes in place of ${MOST}`);
    const tokens = await connect(stand.app);
    const { status } = await token(stand.app, refreshForm(stand.app, tokens.refresh_token));
    if (status !== 200) flaws.push(`a refresh is answered ${status}`);
    const more = await connect(stand.app);
    await revoke(stand.app, more.access_token);
    return flaws;
  },
};
const sizes = new Map<SchoolStand, number>();

/** The size of all files in a folder, in bytes. */
function sizeOf(folder: string): number {
  return readdirSync(folder)
    .map((file) => statSync(join(folder, file)).size)
    .reduce((sum, size) => sum + size, 0);
}
