import type { About, State, Step, Trace } from './trace.ts';

const KEPT = [
  'live',
  'unused',
  'present',
  'suspended',
  'cached',
  'fetching',
  'ending',
  'cutting',
  'phase',
  'consenting',
  'over',
  'told',
  'lost',
  'issued',
];
const ABOUT: Readonly<Record<string, About>> = {
  Request: 'request',
  Grant: 'connection',
  Replica: 'gate',
  Member: 'whom',
  Pair: 'pair',
};

/**
 * Traces as text. `##` begins those of a scene. The first line of a trace says what there is: gates, connections with what
 * they begin with, pairs of tokens, requests. Each further line is an event, what it is about, and what it changes.
 */
export function writeTraces(traces: readonly Trace[]): string {
  return traces
    .map((trace, at) => `${trace.scene === traces[at - 1]?.scene ? '' : `## ${trace.scene}\n\n`}${written(trace)}`)
    .join('\n');
}

function written({ given, start, steps }: Trace): string {
  const mentioned = new Set(
    steps.flatMap(({ about, state }) => [
      ...Object.values(about),
      ...KEPT.filter((field) => field !== 'phase').flatMap((field) =>
        (state[field] ?? []).flatMap((one) => one.split('->')),
      ),
    ]),
  );
  const of = (field: string, name: string) =>
    (given[field] ?? []).filter((one) => one.startsWith(`${name}->`)).map((one) => one.slice(name.length + 2));
  const names = (field: string) => [...new Set((given[field] ?? []).map((one) => one.split('->')[0] ?? ''))];
  const requests = names('at').filter((name) => mentioned.has(name));
  const issued = (name: string) => steps.some(({ state }) => state.phase?.includes(`${name}->Issued`));
  for (const name of requests)
    for (const one of [...of('shows', name), ...(issued(name) ? of('gives', name) : [])]) mentioned.add(one);
  for (const one of start.present ?? []) mentioned.add(one.split('->')[1] ?? '');
  for (let before = 0; before < mentioned.size; ) {
    before = mentioned.size;
    for (const name of [...mentioned]) for (const one of of('from', name)) mentioned.add(one);
  }
  const things = [
    ...(given.Replica ?? []),
    ...(given.Failover?.length ? ['Failover'] : []),
    ...(given.Durable?.length ? ['Durable'] : []),
    ...(given.Member ?? []),
    ...(given.Grant ?? []).map((name) => {
      const pair = start.present
        ?.find((one) => one.startsWith('Primary->') && of('grant', one.slice(9)).includes(name))
        ?.slice(9);
      const begins = start.consenting?.includes(name) ? 'consenting' : (pair ?? 'code');
      return [name, begins, ...of('member', name)].join(' ');
    }),
    ...names('grant')
      .filter((name) => mentioned.has(name))
      .map((name) => [name, ...of('grant', name), ...of('by', name), ...of('from', name)].join(' ')),
    ...requests.map((name) =>
      [name, ...of('at', name), ...of('shows', name), ...(issued(name) ? of('gives', name) : [])].join(' '),
    ),
  ];
  let before = kept(start, requests);
  const lines = steps.map(({ event, about, state }) => {
    const after = kept(state, requests);
    const changes = KEPT.flatMap((field) => {
      const [was, is] = [before[field] ?? [], after[field] ?? []];
      const changed = [
        ...was
          .filter((one) => !is.includes(one))
          .map((one) => `-${one}`)
          .toSorted(),
        ...is
          .filter((one) => !was.includes(one))
          .map((one) => `+${one}`)
          .toSorted(),
      ];
      return changed.length === 0 ? [] : [`${field} ${changed.join(' ')}`];
    });
    before = after;
    const said = changes.length === 0 ? '' : `: ${changes.join(', ')}`;
    return `  ${[event, ...Object.values(about)].join(' ')}${said}`.replaceAll('->', '.');
  });
  return `${things.join(', ')}\n${lines.join('\n')}\n`;
}

function kept(state: State, requests: readonly string[]): State {
  return Object.fromEntries(
    KEPT.map((field) => [
      field,
      (state[field] ?? []).filter((one) => field !== 'phase' || requests.includes(one.split('->')[0] ?? '')),
    ]),
  );
}

/** Throws if the text is not that of `writeTraces`. */
export function readTraces(text: string): readonly Trace[] {
  return text
    .split(/^## /m)
    .slice(1)
    .flatMap((scene) => {
      const [name = '', ...rest] = scene.split('\n');
      const traces = rest
        .join('\n')
        .split(/^(?=\S)/m)
        .filter((one) => one.trim() !== '');
      return traces.map((one) => ({ scene: name, ...traceOf(one) }));
    });
}

function traceOf(text: string): Omit<Trace, 'scene'> {
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const given: Record<string, string[]> = {
    Replica: [],
    Grant: [],
    Member: [],
    Failover: [],
    Durable: [],
    grant: [],
    from: [],
    by: [],
    generation: [],
    at: [],
    shows: [],
    gives: [],
    member: [],
  };
  const start: Record<string, string[]> = Object.fromEntries(KEPT.map((field) => [field, []]));
  const put = (field: string, name: string, value: string | undefined) =>
    value !== undefined && given[field]?.push(`${name}->${value}`);
  for (const thing of first.split(', ')) {
    const [name = '', ...about] = thing.split(' ');
    const kind = name.replace(/\d+$/, '');
    if (kind === 'Pair') for (const [at, field] of ['grant', 'by', 'from'].entries()) put(field, name, about[at]);
    else if (kind === 'Request') {
      for (const [at, field] of ['at', 'shows', 'gives'].entries()) put(field, name, about[at]);
      start.phase?.push(`${name}->New`);
    } else given[kind]?.push(name);
    if (kind !== 'Grant') continue;
    const [begins = '', member] = about;
    put('member', name, member);
    if (begins === 'consenting') start.consenting?.push(name);
    else
      for (const copy of ['Primary', 'Standby']) {
        start.live?.push(`${copy}->${name}`);
        if (copy === 'Primary' && begins !== 'code') start.issued?.push(begins);
        if (begins === 'code') start.unused?.push(`${copy}->${name}`);
        else start.present?.push(`${copy}->${begins}`);
      }
  }
  const from = (name: string) => given.from?.find((one) => one.startsWith(`${name}->`))?.split('->')[1];
  for (const one of given.grant ?? []) {
    const [name = ''] = one.split('->');
    let generation = 0;
    for (let before = from(name); before !== undefined; before = from(before)) generation += 1;
    given.generation?.push(`${name}->${['First', 'Second', 'Third', 'Fourth'][generation]}`);
  }
  let state: State = start;
  const steps = lines.map((line): Step => {
    const [, event = '', about = '', changes = ''] = /^ {2}(\w+)((?: \w+)*)(?:: (.+))?$/.exec(line) ?? [];
    if (event === '') throw new Error(`this is no event: ${line}`);
    state = changed(state, changes);
    const named = about
      .trim()
      .split(' ')
      .filter((name) => name !== '');
    return {
      event,
      about: Object.fromEntries(named.map((name) => [ABOUT[name.replace(/\d+$/, '')] ?? '', name])),
      state,
    };
  });
  return { given, start, steps };
}

function changed(state: State, changes: string): State {
  const result: Record<string, readonly string[]> = { ...state };
  for (const change of changes.split(', ').filter((one) => one !== '')) {
    const [field = '', ...values] = change.replaceAll('.', '->').split(' ');
    for (const value of values) {
      const one = value.slice(1);
      const was = result[field] ?? [];
      result[field] = value.startsWith('-') ? was.filter((other) => other !== one) : [...was, one];
    }
  }
  return result;
}
