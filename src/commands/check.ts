import type { LoadedConfig } from '../config/load.ts';
import type { CheckFormat, CheckReport } from '../config/problem-report.ts';
import { ConfigError, type Problem } from '../config/problems.ts';
import { counted } from '../http/amounts.ts';
import { type Define, readConfig } from './command.ts';
import { EXIT } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

interface Flags {
  readonly format: CheckFormat;
  readonly strict: boolean;
}

export const define: Define = (command, terminal) => {
  const { say, tell, end } = terminal;
  command.action(async (file: string, { format, strict }: Flags) => {
    const { checkedGithub, checkedJson, warningLines } = await import('../config/problem-report.ts');
    const { checked, thrown } = await check(file, terminal);
    if (format === 'json') say(checkedJson(checked));
    if (format === 'github') for (const line of checkedGithub(checked)) say(line);
    if (format === 'text') {
      if (thrown !== undefined) throw thrown;
      for (const line of warningLines(checked.warnings)) tell(line);
    }
    const { summary, warnings } = checked;
    if (format !== 'json' && summary !== undefined) {
      const outcome = warnings.length === 0 ? 'valid' : `valid, with ${counted(warnings.length, 'warning')}`;
      say(
        `${file}: ${outcome}. ${counted(summary.routes, 'route')}, profile ${summary.profile}, origin ${summary.origin}`,
      );
    }
    if (thrown !== undefined || (strict && warnings.length > 0)) end(EXIT.config);
  });
};

/** Runs every check that `serve` runs before it opens a port. Throws errors that are not configuration problems. */
async function check(file: string, terminal: Terminal): Promise<{ checked: CheckReport; thrown?: ConfigError }> {
  const { checkInterfaces } = await import('../generation/interfaces.ts');
  const { checkInstalled } = await import('../login/open-login.ts');
  let loaded: LoadedConfig | undefined;
  let found: readonly Problem[] = [];
  try {
    loaded = await readConfig(file, terminal);
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
