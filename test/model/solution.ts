import { instances } from './alloy.ts';
import type { About, State, Trace } from './trace.ts';

/** What stays as it is in a trace, by the names of Alloy's fields. */
const GIVEN = [
  'Pair<:grant',
  'Pair<:from',
  'Pair<:generation',
  'Pair<:by',
  'Request<:at',
  'Request<:shows',
  'Request<:gives',
  'Grant<:member',
];
const GIVEN_SETS = ['Replica', 'Grant', 'Member', 'Durable', 'Failover'];
/** What changes. */
const FIELDS = [
  ...['live', 'unused', 'present', 'suspended'].map((name) => `Copy<:${name}`),
  ...['cached', 'fetching', 'ending', 'cutting'].map((name) => `Replica<:${name}`),
  'Request<:phase',
];
const SETS = ['held', 'consenting', 'over', 'told', 'issued', 'lost', 'watched', 'waits'];
/** Things of which there is one need no number. */
const SINGLE =
  /\b(Primary|Standby|Failover|Durable|Now|New|Fresh|Used|Reuse|Ended|Issued|Refused|Gone|First|Second|Third|Fourth)0\b/g;
const ABOUT: readonly About[] = ['request', 'connection', 'gate', 'whom', 'pair'];

/** At most `most` traces that the only command of a file finds, whatever their scene. */
export async function solve(
  files: Readonly<Record<string, string>>,
  name: string,
  most = 1,
): Promise<readonly Omit<Trace, 'scene'>[]> {
  return (await instances(files, name, most)).map(traceIn);
}

function traceIn(text: string): Omit<Trace, 'scene'> {
  const states = text
    .split(/^-+State \d+.*$/m)
    .slice(1)
    .map(relations);
  const [first] = states;
  if (first === undefined) throw new Error('Alloy wrote no states');
  const moments = states.map((all) => ({ ...named(all, FIELDS), ...named(all, SETS) }));
  const steps = states.slice(0, -1).flatMap((all, at) => {
    const event = (of(all, 'Now<:event')[0]?.split('->')[1] ?? '').replace(/0$/, '');
    if (event === 'Rest') return [];
    const about = ABOUT.map((what) => [what, of(all, `Now<:${what}`)[0]?.split('->')[1]] as const);
    return [
      {
        event,
        about: Object.fromEntries(about.filter(([, name]) => name !== undefined)),
        state: moments[at + 1] ?? {},
      },
    ];
  });
  return { given: { ...named(first, GIVEN), ...named(first, GIVEN_SETS) }, start: moments[0] ?? {}, steps };
}

function relations(text: string): State {
  const lines = [...text.matchAll(/^(?:\w+\/)?([\w<:]+)=\{(.*)\}$/gm)];
  return Object.fromEntries(
    lines.map(([, name = '', members = '']) => [
      name,
      members === ''
        ? []
        : members.split(', ').map((member) => member.replaceAll(/\w+\/|\$/g, '').replaceAll(SINGLE, '$1')),
    ]),
  );
}

function of(all: State, name: string): readonly string[] {
  return all[name] ?? [];
}

function named(all: State, names: readonly string[]): State {
  return Object.fromEntries(names.map((name) => [name.replace(/.*<:/, ''), of(all, name)]));
}
