import { PLACEHOLDER } from '../../../config/placeholders.ts';
import { filledFile, type TemplateView } from '../../../http/template.ts';
import { codePath } from '../../../installation.ts';
import { programName } from '../../program-name.ts';
import type { Setup } from './configuration.ts';
import type { Discoveries } from './discoveries.ts';
import type { Guess } from './frameworks.ts';
import { dropInFiles, setupGuide, type Written } from './preset.ts';
import type { SeenSite } from './probe.ts';

/** What `init` tells the operator about the site. */
export function whatWasSeen(
  { unreachable, gaveUp }: SeenSite,
  { framework, sure, marks, others }: Guess,
  found: Discoveries,
): readonly string[] {
  const list = (items: readonly string[]) => items.join('; ');
  const lines: string[] = [];
  if (unreachable !== undefined)
    lines.push(`The site did not answer (${unreachable}). Writing the usual values for you to complete.`);
  if (sure === 'given') lines.push(`Framework: ${framework}, as given by --framework.`);
  else if (framework === 'generic')
    lines.push(
      `No known framework detected. Writing a generic configuration for a site with ${found.jsonLogin === undefined ? 'session cookies' : 'a sign-in in JSON'}.`,
    );
  else lines.push(`Framework: ${sure === 'sure' ? '' : 'probably '}${framework} (${list(marks)}).`);
  if (framework === 'generic' && marks.length > 0) lines.push(`Seen: ${list(marks)}.`);
  if (others.length > 0) lines.push(`Also seen: ${list(others)}. If that is your framework, pass it with --framework.`);
  if (unreachable !== undefined) return lines;
  lines.push(
    found.jsonLogin === undefined
      ? `Sign-in page: ${found.loginPath ?? 'none found'}. Session cookies: ${found.sessionCookies.join(', ') || 'none seen'}.`
      : `Sign-in: POST ${found.jsonLogin.path}, which answers in JSON. There is no page.`,
  );
  if (framework === 'generic') lines.push(`Address that identifies the member: ${found.whoami?.path ?? 'none found'}.`);
  const { described, proposals, unread } = found;
  lines.push(
    `API: ${found.api ?? 'none found'}${described > 0 ? `, with ${described} readable addresses, of which ${proposals.length} are proposed` : ''}.`,
  );
  if (unread.length > 0) lines.push(`Not read: ${list(unread)}. Add routes by hand, or describe less there.`);
  if (gaveUp) lines.push('The site stopped answering, so more may be there than was found.');
  return lines;
}

/** What is left for the operator to do. `routing` says how to put the web server to work. */
export function whatIsLeft(setup: Setup, written: Written, routing: TemplateView): readonly string[] {
  const { origin, upstream } = setup;
  const text = filledFile(codePath('operator/setup/init/templates/next-steps.txt'), {
    ...routing,
    isPublic: upstream.host === origin.host,
    host: origin.host,
    origin: origin.origin,
    firstStep: firstStep(setup, written),
    program: programName(),
  });
  return text.trimEnd().split('\n');
}

function firstStep({ framework, preset, found }: Setup, written: Written): string {
  if (framework === 'generic') {
    const lines = linesToFillIn(written.configuration);
    const comments = `its comments (1) to (${found.jsonLogin === undefined ? 4 : 3}) say what was found`;
    if (lines.length === 0) return `Check \`login\` in coursegate.yaml: ${comments}.`;
    const which = lines.length === 1 ? `line ${lines[0]}` : `these ${lines.length} lines: ${lines.join(', ')}`;
    return `Fill in ${which} of coursegate.yaml, where it says ${PLACEHOLDER}: ${comments}.`;
  }
  const names = written.variables.map(({ name }) => name);
  const readme = setupGuide(framework);
  if (dropInFiles(framework).length === 0)
    return `Set ${[...new Set(names)].join(' and ') || 'up the site'} as described in ${readme}.`;
  const readers = written.secrets.length > 0 ? preset?.secretsFor : undefined;
  return `Install drop-in/ as described in ${readme}.${readers === undefined ? '' : ` It contains secrets: only ${readers} should be able to read it.`}`;
}

/** The numbers of the lines with a placeholder. */
function linesToFillIn(configuration: string): readonly number[] {
  return configuration.split('\n').flatMap((line, at) => (line.includes(PLACEHOLDER) ? [at + 1] : []));
}
