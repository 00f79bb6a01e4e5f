import { counted } from '../../http/amounts.ts';
import { documentPath } from '../../installation.ts';
import type { Level } from './finding.ts';
import { countLevels, type Report } from './report.ts';
import { themes } from './texts.ts';

export interface TextStyle {
  /** Columns of the terminal. */
  readonly width: number;
  readonly colour: boolean;
}

const MARKS: Readonly<Record<Level, string>> = { pass: '✓', skipped: '–', warning: '!', failure: '✗' };
const COLOURS: Readonly<Record<Level, number>> = { pass: 32, skipped: 90, warning: 33, failure: 31 };
const NARROWEST = 40;

/**
 * The report as text: the failures and warnings with their fixes, then how many checks of each theme passed, and how many
 * were skipped for each reason. That fits on a screen; `--json` has every check.
 */
export function toText(report: Report, style: TextStyle): string {
  const width = Math.max(style.width, NARROWEST);
  const paint = (code: number, text: string) => (style.colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const mark = (level: Level) => paint(COLOURS[level], MARKS[level]);
  const lines: string[] = [];
  const put = (text: string, first = '', rest = '') => lines.push(...wrap(text, width, first, rest));

  if (report.unreachable !== undefined) {
    const end = /[.?]$/.test(report.unreachable) ? '' : '.';
    put(`${report.url} cannot be reached: ${report.unreachable}${end}`, `${mark('failure')} `, '  ');
    if (/^the certificate/.test(report.unreachable))
      put('Apps refuse it too: renew it, or name your own authority in NODE_EXTRA_CA_CERTS.', '  ', '  ');
    lines.push('');
    if (report.findings.length === 0) return `${lines.join('\n')}\n`;
  }

  if (report.nothing !== undefined) {
    const { seen, fix, elsewhere } = report.nothing;
    const otherwise = 'There is no metadata at /.well-known/, and no address that asks for a token.';
    put(`${report.url} is no gate: ${seen}`, `${mark('failure')} `, '  ');
    if (elsewhere === undefined) put(fix === undefined ? otherwise : `Is one meant to be there? ${fix}`, '  ', '  ');
    if (report.findings.length === 0) return `${lines.join('\n')}\n`;
    lines.push('');
  }

  for (const level of ['failure', 'warning'] as const) {
    for (const one of report.findings.filter((finding) => finding.level === level)) {
      put(one.title, `${mark(level)} `, '  ');
      put(one.seen, '  seen   ', '         ');
      put(one.fix ?? '', '  fix    ', '         ');
      put(`${documentPath(one.reference)}  [${one.check}]`, '  see    ', '         ');
      lines.push('');
    }
  }
  const having = (level: Level) => report.findings.filter((one) => one.level === level);
  for (const [theme, findings] of Map.groupBy(having('pass'), (one) => one.theme))
    put(
      `${themes().get(theme)?.title ?? theme}: ${counted(findings.length, 'check')} passed`,
      `${mark('pass')} `,
      '  ',
    );
  for (const [why, findings] of Map.groupBy(having('skipped'), (one) => one.seen))
    put(`${counted(findings.length, 'check')} skipped: ${why}`, `${mark('skipped')} `, '  ');
  lines.push('');
  if (report.leftBehind.length > 0) {
    put(`Registered but not deleted: ${report.leftBehind.join(', ')}`, '', '  ');
    lines.push('');
  }
  if (report.findings.some(({ seen }) => seen.includes('--member')))
    put('Some checks show more with the ID of a member, such as your own. Name one with --member.');
  if (!report.complete && report.unreachable === undefined)
    lines.push('The time was over before all checks had finished.');
  lines.push(paint(1, summary(report)));
  return `${lines.join('\n')}\n`;
}

function summary({ url, findings, seconds }: Report): string {
  const { pass, skipped, warning, failure } = countLevels(findings);
  return `${url}: ${counted(failure, 'failure')}, ${counted(warning, 'warning')}, ${pass} passed, ${skipped} skipped (${seconds} s)`;
}

/** Wraps text between words. A word longer than a line is split. */
function wrap(text: string, width: number, first: string, rest: string): readonly string[] {
  const room = width - rest.length;
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= room) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
    for (let last = lines.at(-1) ?? ''; last.length > room; last = lines.at(-1) ?? '') {
      lines[lines.length - 1] = last.slice(0, room);
      lines.push(last.slice(room));
    }
  }
  return lines.map((line, at) => (at === 0 ? first : rest) + line);
}
