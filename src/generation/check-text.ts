import { restartFindings } from '../config/changes.ts';
import type { LoadedConfig } from '../config/load.ts';
import { formatProblem } from '../config/problems.ts';
import { checkInstalled } from '../login/open-login.ts';
import { checkInterfaces } from './interfaces.ts';

/**
 * Checks what would be in force with another text of the operator's file, as `check` and a reload do. Throws ConfigError
 * with every mistake.
 */
export async function checkText(
  loaded: LoadedConfig,
  text: string,
): Promise<{ readonly next: LoadedConfig; readonly warnings: readonly string[] }> {
  const next = await loaded.loadText(text);
  const restart = restartFindings(loaded, next);
  if (restart.length > 0) throw next.mistaken(restart);
  const found = await checkInterfaces(next);
  await checkInstalled(next);
  const warnings = [...next.warnings, ...found].map((warning) => formatProblem({ ...warning, frame: undefined }));
  return { next, warnings };
}
