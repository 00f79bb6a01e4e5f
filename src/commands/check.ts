import { Option } from 'commander';
import type { LoadedConfig } from '../config/load.ts';
import type { Checked, CheckFormat } from '../config/problem-report.ts';
import { ConfigError } from '../config/problems.ts';
import type { Environment } from '../config/setting.ts';
import { type Define, examples } from './command.ts';
import { EXIT } from './failure.ts';

interface Flags {
  readonly format: CheckFormat;
  readonly strict: boolean;
}

export const define: Define = (command, { say, tell, end, environment }) => {
  command
    .argument('<file>', 'the configuration file')
    .addOption(
      new Option('--format <format>', 'text, json for programs, or github to annotate a pull request')
        .choices(['text', 'json', 'github'])
        .default('text'),
    )
    .option('--strict', 'exit 78 on warnings too', false)
    .addHelpText(
      'after',
      examples(
        'coursegate check coursegate.yaml',
        'coursegate check coursegate.yaml --strict --format github',
        "coursegate check coursegate.yaml --format json | jq '.problems[].message'",
      ),
    )
    .action(async (file: string, { format, strict }: Flags) => {
      const { checkedGithub, checkedJson, warningLines } = await import('../config/problem-report.ts');
      const { checked, thrown } = await check(file, environment);
      if (format === 'json') say(checkedJson(checked));
      if (format === 'github') for (const line of checkedGithub(checked)) say(line);
      if (format === 'text') {
        if (thrown !== undefined) throw thrown;
        for (const line of warningLines(checked.warnings)) tell(line);
      }
      const { summary, warnings } = checked;
      if (format !== 'json' && summary !== undefined) {
        const told = warnings.length === 0 ? 'valid' : `valid, with ${warnings.length} warning(s)`;
        say(`${file}: ${told}. ${summary.routes} routes, profile ${summary.profile}, origin ${summary.origin}`);
      }
      if (thrown !== undefined || (strict && warnings.length > 0)) end(EXIT.config);
    });
};

/** Runs every check that `serve` runs before it opens a port. Throws errors that are not configuration problems. */
async function check(file: string, environment: Environment): Promise<{ checked: Checked; thrown?: ConfigError }> {
  const { loadConfig } = await import('../config/load.ts');
  const { checkInterfaces } = await import('../generation/account-and-mcp.ts');
  const { checkDriver } = await import('../login/database/check-driver.ts');
  let loaded: LoadedConfig | undefined;
  try {
    loaded = await loadConfig({ file, environment });
    await checkInterfaces(loaded);
    await checkDriver(loaded);
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    return { checked: { file, problems: thrown.problems, warnings: loaded?.warnings ?? [] }, thrown };
  }
  const { config, profile, warnings } = loaded;
  const summary = { profile, origin: config.origin, routes: config.routes.length };
  return { checked: { file, problems: [], warnings, summary } };
}
