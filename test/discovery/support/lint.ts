import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLI = join(dirname(fileURLToPath(import.meta.resolve('@redocly/cli/package.json'))), 'bin/cli.js');
const RULES = fileURLToPath(new URL('../../tooling/redocly.yaml', import.meta.url));

/** Returns the linter's findings in an OpenAPI document, as `rule at place`. */
export async function lint(document: unknown): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-openapi-'));
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  try {
    const text = await new Promise<string>((resolve, reject) => {
      const options = { env: environment, maxBuffer: 32 * 1024 ** 2 };
      const args = [CLI, 'lint', '--config', RULES, '--format=json', '--max-problems=500', file];
      execFile(process.execPath, args, options, (error, stdout) => {
        if (stdout.trimStart().startsWith('{')) resolve(stdout);
        else reject(error ?? new Error(`the linter said ${stdout}`));
      });
    });
    const { totals, problems } = JSON.parse(text) as Report;
    const said = problems.map(({ ruleId, location }) => `${ruleId} at ${location[0]?.pointer ?? ''}`);
    if (totals.errors + totals.warnings + totals.ignored !== said.length) throw new Error(`the linter counts ${text}`);
    return said;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Report {
  readonly totals: { readonly errors: number; readonly warnings: number; readonly ignored: number };
  readonly problems: readonly {
    readonly ruleId: string;
    readonly location: readonly { readonly pointer?: string }[];
  }[];
}
