import type { State, Trace } from './trace.ts';

const STATIC = ['grant', 'from', 'by', 'at', 'shows', 'member'];

/** A file with a command for each trace. */
export function traceCommands(traces: readonly Trace[]): string {
  return `open tokens\nopen behaviour\nopen traces\n${traces.map((trace, at) => traceCommand(trace, `T${at}`)).join('')}`;
}

/**
 * A command of Alloy that finds an instance only if the model allows the trace: these events, in this order, and after
 * each of them this state.
 */
function traceCommand({ given, start, steps }: Trace, name: string): string {
  const things = ['Grant', 'Pair', 'Replica', 'Request', 'Member'].map(
    (kind) => [kind, thingsOf(kind, given)] as const,
  );
  const some = things.flatMap(([kind, names]) =>
    names.length === 0 ? [] : [`some disj ${names.join(', ')}: ${kind} |`],
  );
  const moments = [start, ...steps.map(({ state }) => state)].map((state, at) => {
    const step = steps[at];
    const now =
      step === undefined
        ? 'Now.event = Rest'
        : [
            `Now.event = ${step.event}`,
            ...Object.entries(step.about).map(([what, one]) => `Now.${what} = ${one}`),
          ].join(' and ');
    return `(${now} and ${stateText(state)})`;
  });
  const fixed = STATIC.map((field) => equals(field, given[field]));
  const gives = (given.gives ?? []).map((one) => `${one} in gives`);
  const whole = ['Failover', 'Durable'].map((one) => `${given[one]?.length ? 'some' : 'no'} ${one}`);
  const scope = things.map(([kind, names]) => `exactly ${names.length} ${kind}`);
  return `run ${name} { ${some.join(' ')} ${[...fixed, ...gives, ...whole, `(${moments.join(' ; ')})`].join(' and ')} }\n  for 3 but ${scope.join(', ')}, exactly ${steps.length + 1} steps\n`;
}

function thingsOf(kind: string, given: State): readonly string[] {
  if (kind === 'Pair') return [...new Set((given.grant ?? []).map((one) => one.split('->')[0] ?? ''))];
  if (kind === 'Request') return [...new Set((given.at ?? []).map((one) => one.split('->')[0] ?? ''))];
  return given[kind] ?? [];
}

function stateText(state: State): string {
  return Object.entries(state)
    .map(([field, values]) => equals(field, values))
    .join(' and ');
}

function equals(field: string, values: readonly string[] = []): string {
  return values.length === 0 ? `no ${field}` : `${field} = ${values.join(' + ')}`;
}
