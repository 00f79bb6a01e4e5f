import type { LoadedConfig } from '../../config/load.ts';
import type { Problem } from '../../config/problems.ts';
import type { SourceFiles } from '../../config/source-files.ts';
import { checkInterfaces } from '../../generation/interfaces.ts';
import { checkInstalled } from '../../login/open-login.ts';
import { hostsIn } from './hosts.ts';

/**
 * Runs every check of a school that is run before it is served. Returns its configuration, and what is allowed but most
 * likely unintended. Rejects with ConfigError.
 */
export async function checkSchool(main: LoadedConfig, name: string, sources?: SourceFiles) {
  if (main.schools === undefined) throw new Error('the file lists no schools any more: restart the process');
  const loaded = await main.schools.load(name, sources);
  const found = await checkInterfaces(loaded);
  await checkInstalled(loaded);
  return { loaded, found };
}

/** Finds addresses that two schools have: the one whose name comes first keeps it. */
export function clashingHosts(schools: ReadonlyMap<string, LoadedConfig>): readonly Problem[] {
  const first = new Map<string, string>();
  return [...schools].flatMap(([name, loaded]) =>
    hostsIn(loaded.written.tree).flatMap(({ host }) => {
      const of = first.get(host) ?? name;
      first.set(host, of);
      if (of === name) return [];
      const message = `${host} is an address of the school "${of}" already`;
      return loaded.mistaken([{ path: ['origin'], at: 'value', message }]).problems;
    }),
  );
}
