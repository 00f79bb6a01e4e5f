import type { LoadedConfig } from '../config/load.ts';
import type { CheckFormat, CheckReport } from '../config/problem-report.ts';
import { ConfigError, type Problem } from '../config/problems.ts';
import { counted } from '../http/amounts.ts';
import { type Define, readProcess } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { assertSchool } from './school-option.ts';
import type { Terminal } from './terminal.ts';

interface Flags {
  readonly school?: string;
  readonly format: CheckFormat;
  readonly strict: boolean;
}

export const define: Define = (command, terminal) => {
  const { say, tell, end } = terminal;
  command.action(async (file: string, { school, format, strict }: Flags) => {
    const { checkedGithub, checkedJson, warningLines } = await import('../config/problem-report.ts');
    const { checked, thrown } = await check(file, terminal, school);
    if (format === 'json') say(checkedJson(checked));
    if (format === 'github') for (const line of checkedGithub(checked)) say(line);
    if (format === 'text') {
      if (thrown !== undefined) throw thrown;
      for (const line of warningLines(checked.warnings)) tell(line);
    }
    const { summary, warnings } = checked;
    if (format !== 'json' && summary !== undefined) {
      const outcome = warnings.length === 0 ? 'valid' : `valid, with ${counted(warnings.length, 'warning')}`;
      const what =
        'schools' in summary
          ? counted(summary.schools, 'school')
          : `${counted(summary.routes, 'route')}, profile ${summary.profile}, origin ${summary.origin}`;
      say(`${file}: ${outcome}. ${what}`);
    }
    if (thrown !== undefined || (strict && warnings.length > 0)) end(EXIT.config);
  });
};

/** Runs every check that `serve` runs before it opens a port. Throws errors that are not configuration problems. */
async function check(
  file: string,
  terminal: Terminal,
  school: string | undefined,
): Promise<{ checked: CheckReport; thrown?: ConfigError }> {
  const { checkInterfaces } = await import('../generation/interfaces.ts');
  const { checkInstalled } = await import('../login/open-login.ts');
  let loaded: LoadedConfig | undefined;
  let found: readonly Problem[] = [];
  try {
    loaded = await readProcess(file, terminal);
    if (school !== undefined) assertSchool(file, loaded, school);
    if (loaded.schools !== undefined) return await checkSchools(file, loaded, school);
    found = await checkInterfaces(loaded);
    await checkInstalled(loaded);
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    return { checked: { file, problems: thrown.problems, warnings: loaded?.warnings ?? [] }, thrown };
  }
  const { observedCalls } = await import('./observed-calls.ts');
  const { config, profile } = loaded;
  const warnings = [...loaded.warnings, ...found, ...(await observedCalls(file, loaded, terminal))];
  const summary = { profile, origin: config.origin, routes: config.routes.length };
  return { checked: { file, problems: [], warnings, summary } };
}

/** The same for each school that a main file lists. A mistake of one hides none of another. */
async function checkSchools(
  file: string,
  main: LoadedConfig,
  only: string | undefined,
): Promise<{ checked: CheckReport; thrown?: ConfigError }> {
  const { checkSchool, clashingHosts } = await import('../process/schools/check-school.ts');
  const problems: Problem[] = [];
  const warnings = [...main.warnings];
  const valid = new Map<string, LoadedConfig>();
  for (const name of only === undefined ? (main.schools?.files.keys() ?? []) : [only]) {
    try {
      const { loaded, found } = await checkSchool(main, name);
      valid.set(name, loaded);
      warnings.push(...loaded.warnings, ...found);
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown;
      problems.push(...thrown.problems);
    }
  }
  problems.push(...clashingHosts(valid));
  const checked = { file, problems, warnings };
  if (problems.length > 0) return { checked, thrown: new ConfigError(problems) };
  return { checked: { ...checked, summary: { schools: valid.size } } };
}
