import type { Connector } from './connector.ts';
import type { Mapping } from './mapping.ts';
import { bindsItem } from './methods.ts';
import type { Mistake } from './mistakes.ts';
import { type ChainStep, chainsOf, literalOf } from './syntax.ts';

/** WordPress writes times in the site's time zone, except under keys that end like this. */
const WORDPRESS = '/wp-json/';
const IN_UTC = /_(?:gmt|utc)$/i;

/**
 * Warns where a mapping reads local times and no time zone is configured, and where it reads as UTC what WordPress writes
 * in local time.
 */
export function timeWarnings(mapping: Mapping, timeZone: string | undefined): readonly Mistake[] {
  const calls = [
    ...[...mapping.fields.values()].map(({ coordinate, connector }) => ({ coordinate, connector })),
    ...[...mapping.types.values()].map(({ type, connector }) => ({ coordinate: type, connector })),
  ];
  return calls.flatMap(({ coordinate, connector }) =>
    [...warningsIn(connector, timeZone)].map(({ at, message }) => ({ ...connector.placeOf(at), coordinate, message })),
  );
}

function* warningsIn({ selection, path }: Connector, timeZone: string | undefined) {
  const isWordPress = typeof path[0] === 'string' && path[0].startsWith(WORDPRESS);
  for (const { head, steps } of chainsOf(selection, bindsItem)) {
    const keys = head.kind === 'key' ? [head.name] : [];
    for (const step of steps) {
      if (step.kind === 'key') keys.push(step.name);
      const format = step.kind === 'method' && step.name === 'toDateTime' ? literalOf(step.args[0]) : undefined;
      const key = keys.at(-1) ?? '';
      if (format === 'sql' && timeZone === undefined && !hasZone(step)) {
        const message =
          'reads local times as UTC, because the configuration has no timeZone: set it, or name the time zone here, such as ->toDateTime("sql", "Europe/Madrid")';
        yield { at: step.at, message };
      }
      if (format === 'sql_utc' && isWordPress && !IN_UTC.test(key)) {
        const message = `reads ${key} as UTC, but WordPress writes local times under keys that do not end in _gmt: use ->toDateTime("sql"), or ("sql", "UTC") if it is UTC`;
        yield { at: step.at, message };
      }
    }
  }
}

function hasZone(step: ChainStep): boolean {
  return step.kind === 'method' && step.args.length > 1;
}
