import type { State, Step, Trace } from './trace.ts';

/** What a refresh token is, from the app's side, as conditions in Alloy on a pair `t` that was issued. */
const STATES = {
  present: { says: 'present', is: 't in presentOf[t.grant]' },
  open: { says: 'replaced, window open', is: 'some (presentOf[t.grant] & from.t) - over' },
  passed: { says: 'replaced, window over', is: 'some presentOf[t.grant] & from.t & over' },
  earlier: { says: 'replaced twice or more', is: 't in presentOf[t.grant].from.^from' },
  ended: { says: 'ended', is: 't.grant not in Primary.live' },
  lost: { says: 'unknown to the store', is: 't.grant in Primary.live and t not in presentOf[t.grant].*from' },
} as const;

type TokenState = keyof typeof STATES;

/** Which events end a state, or answer a request without ending one. */
const CAUSES: Readonly<Record<string, string>> = {
  CommitCode: 'refresh or exchange',
  CommitToken: 'refresh or exchange',
  Tick: 'the window passes',
  End: 'reuse',
  Revoke: 'revocation',
  Fail: 'failover that loses writes',
  RecallSame: 'a repeat gets the same tokens',
};

/** From which state to which, and why. */
type Change = readonly [from: TokenState | 'none', to: TokenState, why: string];

export const PROOF = new URL('../../docs/proof.md', import.meta.url);

/** The page with the picture that these traces show. Throws if it has no place for one. */
export function withPicture(page: string, traces: readonly Trace[]): string {
  const place = /(?<=^```mermaid\n)[^`]*(?=^```$)/m;
  if (!place.test(page)) throw new Error('docs/proof.md has no block for the picture');
  return page.replace(place, () => `${familyPicture(traces)}\n`);
}

/** What traces show of the family of a refresh token, as a state diagram of Mermaid. */
function familyPicture(traces: readonly Trace[]): string {
  const changes = changesIn(traces);
  const names = Object.keys(STATES) as TokenState[];
  const arrows = [...new Set(changes.map(([from, to]) => `${from} ${to}`))].toSorted((a, b) => place(a) - place(b));
  const lines = arrows.map((arrow) => {
    const [from = '', to = ''] = arrow.split(' ');
    const whys = new Set(changes.filter(([one, other]) => one === from && other === to).map(([, , why]) => why));
    return `  ${from === 'none' ? '[*]' : from} --> ${to}: ${[...whys].toSorted().join(', ')}`;
  });
  function place(arrow: string): number {
    const [from = '', to = ''] = arrow.split(' ');
    return (names.indexOf(from as TokenState) + 1) * 10 + names.indexOf(to as TokenState);
  }
  const shown = names.filter((name) => changes.some(([from, to]) => from === name || to === name));
  return [
    'stateDiagram-v2',
    '  direction LR',
    ...shown.map((name) => `  state "${STATES[name].says}" as ${name}`),
    ...lines,
  ].join('\n');
}

/** What there is where all changes are looked for. */
const SCOPE = '3 but 0 Member, exactly 1 Grant, 4 Pair, exactly 1 Replica, 3 Request, exactly 9 steps';

/** A file with one command, which finds a trace with a change from one state to another, and its cause, that these do not show. */
export function changeNotShown(traces: readonly Trace[]): string {
  const shown = new Set(changesIn(traces).map((change) => change.join()));
  const names = Object.keys(STATES) as TokenState[];
  const causes = Map.groupBy(Object.entries(CAUSES), ([, why]) => why);
  const changes = names.flatMap((from) =>
    names
      .filter((to) => to !== from)
      .flatMap((to) =>
        [...causes]
          .filter(([why]) => !shown.has([from, to, why].join()))
          .map(([, events]) => {
            const event = `Now.event in ${events.map(([name]) => name).join(' + ')}`;
            return `(${event} and (${STATES[from].is}) and after (${STATES[to].is}))`;
          }),
      ),
  );
  return `open tokens\nopen behaviour\nopen traces
run NotShown { no Durable and eventually (some t: issued | ${changes.join('\n  or ')}) }
  for ${SCOPE}\n`;
}

function changesIn(traces: readonly Trace[]): readonly Change[] {
  return traces.flatMap(({ given, start, steps }) =>
    steps.flatMap((step, at) => changesOf(given, steps[at - 1]?.state ?? start, step)),
  );
}

function changesOf(given: State, before: State, { event, about, state }: Step): readonly Change[] {
  const why = CAUSES[event] ?? event;
  const pairs = (given.grant ?? []).map((one) => one.split('->')[0] ?? '');
  return pairs.flatMap((pair): readonly Change[] => {
    const [from, to] = [stateOf(given, before, pair), stateOf(given, state, pair)];
    const repeated = event === 'RecallSame' && target(given.shows, about.request) === pair;
    if (to === undefined || (from === to && !repeated)) return [];
    return [[from ?? 'none', to, why]];
  });
}

function target(field: readonly string[] = [], name = ''): string | undefined {
  return field.find((one) => one.startsWith(`${name}->`))?.split('->')[1];
}

/** Undefined if the pair has not been issued. */
function stateOf(given: State, state: State, pair: string): TokenState | undefined {
  const grant = target(given.grant, pair) ?? '';
  const ancestors = (one: string | undefined): readonly string[] =>
    one === undefined ? [] : [one, ...ancestors(target(given.from, one))];
  if (state.issued?.includes(pair) !== true) return undefined;
  if (state.live?.includes(`Primary->${grant}`) !== true) return 'ended';
  const present = (state.present ?? [])
    .map((one) => one.split('->'))
    .find(([copy, one = '']) => copy === 'Primary' && target(given.grant, one) === grant)?.[1];
  const chain = ancestors(present);
  if (chain[0] === pair) return 'present';
  if (chain[1] === pair) return state.over?.includes(chain[0] ?? '') ? 'passed' : 'open';
  return chain.includes(pair) ? 'earlier' : 'lost';
}
