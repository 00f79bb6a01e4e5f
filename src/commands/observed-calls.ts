import type { LoadedConfig } from '../config/load.ts';
import { atAppAddress } from '../config/page-call-checks.ts';
import { isAppAddress } from '../config/page-calls.ts';
import type { Problem, UntracedProblem } from '../config/problems.ts';
import { parseMatch } from '../config/schema.ts';
import { siteCalls } from '../operations/observe/site-calls.ts';
import { adminClient } from './admin-client.ts';
import type { Terminal } from './terminal.ts';

/**
 * Warnings about routes that would refuse what the site's pages were seen to call, from the gate that runs with this
 * file. None if it is not in observe mode, or does not answer: a configuration can be checked anywhere.
 */
export async function observedCalls(
  file: string,
  loaded: LoadedConfig,
  terminal: Terminal,
): Promise<readonly Problem[]> {
  const { config } = loaded;
  if (config.enforcement.mode !== 'observe') return [];
  const isCalled = await observed(file, terminal).catch(() => () => false);
  const findings = config.routes.flatMap((route, index): readonly UntracedProblem[] => {
    const { pattern } = parseMatch(route.match);
    if (route.upstream !== config.site?.upstream || isAppAddress(pattern) || !isCalled(pattern)) return [];
    const message = `would refuse the site's own pages or tools, which the running gate has seen call it. ${atAppAddress(route)}`;
    return [{ path: ['routes', index, 'match'], at: 'value', message }];
  });
  return loaded.mistaken(findings).problems;
}

/** An entry of /observed.json. */
interface Counted {
  readonly method: string;
  readonly path: string;
  readonly callers: Readonly<Record<string, number>>;
}

/** Rejects if no gate answers in the form that is expected. */
async function observed(file: string, terminal: Terminal): Promise<ReturnType<typeof siteCalls>> {
  const gate = await adminClient({ config: file }, terminal);
  const { text } = await gate.ask('/observed.json');
  const counted = (JSON.parse(text) as { observed: readonly Counted[] }).observed;
  return siteCalls(
    counted.map(({ method, path, callers }) => ({ method, pattern: path, callers: new Map(Object.entries(callers)) })),
  );
}
