import type { Store } from '../../../src/storage/store.ts';
import { endsConnection, HeldRequest } from './held-request.ts';
import { generationOf, type Moment } from './model-state.ts';
import type { Played, Running } from './running.ts';
import { type Connection, MEMBER } from './stage.ts';

let probes = 0;

/** How the gates, the store and what clients got differ from the model. */
export async function observe(
  { stage, trace: { given }, connections, requests }: Played,
  expected: Moment,
  last: boolean,
): Promise<readonly string[]> {
  const differences: string[] = [];
  const same = (what: string, wanted: unknown, got: unknown) => {
    if (wanted !== got) differences.push(`${what}: expected ${wanted}, got ${got}`);
  };
  const { copies } = stage.gates;

  for (const [copy, store] of [
    ['Primary', copies.primary()],
    ['Standby', copies.standby()],
  ] as const) {
    for (const [name, connection] of connections) {
      const got = await stored(store, connection);
      const present = expected.present(copy, name);
      same(`${name} lives in ${copy}`, expected.of('live', copy).includes(name), got.lives);
      same(`the code of ${name} is unused in ${copy}`, expected.of('unused', copy).includes(name), got.unused);
      same(`the generation of ${name} in ${copy}`, present && generationOf(given, present), got.generation);
    }
    for (const member of given.Member ?? [])
      same(
        `${member} is suspended in ${copy}`,
        expected.of('suspended', copy).includes(member),
        (await store.get('Suspension', MEMBER)) !== undefined,
      );
  }

  for (const request of (given.phase ?? []).concat(given.at ?? []).map((one) => one.split('->')[0] ?? '')) {
    const running = requests.get(request);
    const [wanted = ''] = expected.of('phase', request);
    const got = phaseOf(running);
    // Both wait for the commit, which only then tells a used code from one that is not.
    const alike = wanted === 'Used' && got === 'Fresh' && connections.has(expected.of('shows', request)[0] ?? '');
    if (!alike) same(request, wanted, got);
  }

  const gates = given.Replica ?? [];
  for (const gate of gates) same(`${gate} has a message`, expected.has('told', gate), stage.gate(gate).told);

  for (const [name, { tokens }] of connections)
    for (const [pair, { access_token, refresh_token }] of tokens) {
      const active = expected.active(pair);
      const isPresent = expected.present('Primary', name) === pair;
      same(`the refresh token of ${pair} is active`, isPresent && active, await stage.introspect(refresh_token));
      same(`the access token of ${pair} is active`, active, await stage.introspect(access_token));
      for (const gate of gates) {
        const cached = expected.of('cached', gate).includes(pair);
        // An answer to it would be remembered from then on.
        if (active && !cached && !last) continue;
        probes += 1;
        const probe = new HeldRequest(`probe-${probes}`);
        const { status } = await stage.show(stage.gate(gate), access_token, probe.name).answer;
        probe.forget();
        same(`${gate} admits ${pair}`, cached || active ? 200 : 401, status);
        same(`${gate} remembers ${pair}`, cached, probe.calls === 0);
      }
    }
  return differences;
}

async function stored(store: Store, { id, code }: Connection) {
  if (id === undefined || code === undefined) return { lives: false, unused: false, generation: undefined };
  const [grant, entry, [family]] = await Promise.all([
    store.get('Grant', id),
    store.get('AuthorizationCode', code),
    store.findBy('RefreshToken', 'grant', id),
  ]);
  const record = family && (JSON.parse(family.payload) as { rotations?: number });
  return {
    lives: grant !== undefined,
    unused: entry !== undefined && entry.consumedAt === undefined,
    generation: record && (record.rotations ?? 0),
  };
}

function phaseOf(running: Running | undefined): string {
  if (running === undefined) return 'New';
  const { answer, gone, hasEnded, held } = running;
  if (gone) return 'Gone';
  if (answer !== undefined) {
    if (answer.status === 200 || answer.status === 503) return 'Gone';
    const refused = answer.status === 400 && answer.body.error === 'invalid_grant';
    if (!refused) return `answered ${answer.status} ${answer.body.error}`;
    return hasEnded ? 'Gone' : 'Refused';
  }
  if (held.stop === undefined) return 'running';
  const { call, when } = held.stop;
  if (endsConnection(call)) return when === 'before' ? 'Reuse' : 'Ended';
  if (when === 'after') return 'Issued';
  return call.op === 'commit' ? 'Fresh' : 'Used';
}
