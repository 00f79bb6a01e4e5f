import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkCommand } from './command-table.ts';
import { ROOT } from './pages.ts';
import { coursegateCall } from './shell.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
/** Commands of npm itself. */
const NPM = new Set([
  'ci',
  'install',
  'test',
  'start',
  'run',
  'exec',
  'audit',
  'sbom',
  'pack',
  'publish',
  'outdated',
  'ls',
]);

/** Throws if `npm run` names a script that package.json does not have. */
export function checkNpm([program, ...words]: readonly string[]): void {
  if (program !== 'npm') return;
  const [verb = '', ...rest] = words.filter((word) => !word.startsWith('-'));
  const script = verb === 'run' ? rest[0] : verb === 'test' || verb === 'start' ? verb : undefined;
  if (script === undefined && !NPM.has(verb)) throw new Error(`npm has no command ${verb}`);
  if (script !== undefined && scripts[script] === undefined) throw new Error(`package.json has no script ${script}`);
}

/** Throws unless the text is a unit file whose coursegate commands exist. */
export function checkUnit(text: string): void {
  const lines = text.replace(/\\\n\s*/g, ' ').split('\n');
  if (!lines.some((line) => /^\[(?:Unit|Service|Socket|Timer|Install)\]$/.test(line))) throw new Error('no section');
  for (const line of lines) {
    if (line.trim() === '' || /^[#;]/.test(line) || /^\[[A-Z][a-zA-Z]+\]$/.test(line)) continue;
    const [, name, value = ''] = /^([A-Z][A-Za-z]+)=(.*)$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`no setting: ${line}`);
    if (!/^Exec/.test(name)) continue;
    const call = coursegateCall(value.replace(/^[-@:+!]+/, '').split(/\s+/));
    if (call !== undefined) checkCommand(call);
  }
  if (existsSync(SYSTEMD) && text.includes('[Service]')) verifyUnit(text);
}

const SYSTEMD = '/usr/bin/systemd-analyze';

/** Lets systemd check each setting and value, if it is installed; programs need not exist. */
function verifyUnit(text: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-unit-'));
  try {
    const file = join(folder, 'docs.service');
    writeFileSync(file, text.replace(/\\\n\s*/g, ' ').replace(/^(Exec\w+=)\S+/gm, '$1/bin/true'));
    const { stderr } = spawnSync(SYSTEMD, ['verify', '--man=no', file], { encoding: 'utf8' });
    const wrong = stderr
      .split('\n')
      .filter((line) => line.includes('docs.service') && !/User=|Documentation/.test(line));
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
