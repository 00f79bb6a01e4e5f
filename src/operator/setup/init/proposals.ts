import { ownPathIn } from '../../../config/route-checks.ts';
import { covers, overlap, segmentsOf } from '../../../config/route-order.ts';
import type { ScopeConfig } from '../../../config/schema.ts';
import { suggestScope } from '../../../operations/observe/suggested-scope.ts';
import { jsonObject, type SiteAnswer } from '../../doctor/answer.ts';
import type { DescribedOperation, Description } from './description.ts';

/** An address of the site's API that apps could read. */
export interface Proposal {
  /** As in the `match` of a route, without the method. */
  readonly pattern: string;
  /** The heading that it is listed under. */
  readonly group: string;
  readonly scope: string;
  /** Whether the scope follows from the path. If not, the operator has to choose one. */
  readonly fits: boolean;
  readonly summary: string | undefined;
  /** Whether it has answered a request without parameters, so that a tool can call it. */
  readonly answers: boolean;
}

type Scopes = Readonly<Record<string, ScopeConfig>>;

/** The areas that apps ask for first, in this order. The others follow by name. */
const FIRST = ['courses', 'progress', 'orders', 'account'];
const PROGRESS = /^(progress|enrol(l)?ments?|trails?|learning|completions?|lessons?|lectures?|chapters?|activities)$/i;
/** Parts of a site that are not for apps of members. */
const NOT_FOR_APPS =
  /^(_.*|admin|superadmin|internal|analytics|dashboard|audit|reports?|rights|contributors|editor.*|exports?|health|healthz|livez|readyz|metrics|monitoring|docs|redoc|swagger|schema|auth|login|logout|oauth2?|tokens?|webhooks?|debug|dev|install|setup|config|settings|instance|zapier|integrations?)$/i;
/** Path segments that the id of a member follows. */
const MEMBERS = /^(users?|members?|students?|learners?|customers?|profiles?|accounts?|people)$/i;
const MEMBER_ID = /^\{(user|member|student|learner|customer|account)_?(id|uuid|pk)\}$/i;
const ANY_ID = /^\{(id|pk|uuid|slug|username|[a-z]+_?(id|uuid))\}$/i;

/** How many addresses without parameters are tried. */
const MOST_TRIED = 80;
const MOST_ROUTES = 20;
const MOST_OF_A_GROUP = 6;
const MOST_TOOLS = 10;

/** The addresses to try before `propose`: each is requested once, without credentials. */
export function addressesToTry(description: Description, scopes: Scopes): readonly string[] {
  return ranked(description, scopes)
    .filter(({ operation }) => isPlain(operation))
    .slice(0, MOST_TRIED)
    .map(({ operation }) => operation.path);
}

/**
 * Proposes what apps may read: the member's own records and what a member usually asks for first. Leaves out addresses
 * that do not answer as an API: `answers` has the responses to `addressesToTry`.
 */
export function propose(
  description: Description,
  answers: ReadonlyMap<string, SiteAnswer>,
  scopes: Scopes,
): readonly Proposal[] {
  const kept: Proposal[] = [];
  for (const { operation, ...rest } of ranked(description, scopes)) {
    const isTried = isPlain(operation);
    if (isTried && !isThere(answers.get(operation.path))) continue;
    const proposal = { ...rest, summary: operation.summary, answers: isTried && !operation.needsQuery };
    if (kept.filter(({ group }) => group === proposal.group).length === MOST_OF_A_GROUP) continue;
    if (kept.every((earlier) => areApart(earlier, proposal))) kept.push(proposal);
    if (kept.length === MOST_ROUTES) break;
  }
  return kept;
}

/** Whether an address is in a part of the site that apps of members may be given. */
export function isForApps(path: string): boolean {
  return !path.split('/').some((segment) => NOT_FOR_APPS.test(segment));
}

/** Those of the proposals that can be tools. */
export function proposedTools(proposals: readonly Proposal[]): readonly Proposal[] {
  return proposals.filter(({ answers, fits }) => answers && fits).slice(0, MOST_TOOLS);
}

function ranked(description: Description, scopes: Scopes) {
  const patterns = new Set<string>();
  return description.operations
    .flatMap((operation) => {
      const pattern = patternOf(operation.path);
      if (pattern === undefined || patterns.has(pattern)) return [];
      patterns.add(pattern);
      return [{ operation, pattern, ...areaOf(pattern, scopes) }];
    })
    .toSorted(
      (a, b) =>
        rankOf(a) - rankOf(b) ||
        compare(a.group, b.group) ||
        nearness(a.pattern) - nearness(b.pattern) ||
        compare(sortable(a.pattern), sortable(b.pattern)),
    );
}

/** How far an address is from what every member has: lists and the member's own records come before single items. */
function nearness(pattern: string): number {
  const isItem = pattern.split('/').includes('*');
  return (isItem ? 200 : pattern.includes('{member.id}') ? 100 : 0) + pattern.split('/').length;
}

/** The pattern of a route for a path of the description; undefined if it cannot be a route, or is not for apps. */
function patternOf(path: string): string | undefined {
  if (!isForApps(path)) return undefined;
  const segments = path.split('/');
  const written = segments.map((segment, at) => {
    if (!/[{}]/.test(segment)) return /\*|^\.{1,2}$/.test(segment) ? undefined : segment;
    const isMembers = MEMBER_ID.test(segment) || (MEMBERS.test(segments[at - 1] ?? '') && ANY_ID.test(segment));
    if (isMembers) return '{member.id}';
    return /^\{[^{}]*\}$/.test(segment) ? '*' : undefined;
  });
  if (written.includes(undefined)) return undefined;
  const pattern = written.join('/');
  return ownPathIn(pattern) === undefined ? pattern : undefined;
}

function areaOf(pattern: string, scopes: Scopes): Pick<Proposal, 'scope' | 'fits' | 'group'> {
  const isProgress = pattern.split('/').some((segment) => PROGRESS.test(segment));
  if (isProgress && Object.hasOwn(scopes, 'courses:read'))
    return { scope: 'courses:read', fits: true, group: 'progress' };
  const { scope, fits } = suggestScope(pattern.replaceAll('{member.id}', '*'), 'read', scopes);
  if (!fits && pattern.includes('{member.id}') && Object.hasOwn(scopes, 'account:read'))
    return { scope: 'account:read', fits: true, group: 'account' };
  return { scope, fits, group: fits ? scope.replace(/:.*/, '') : 'others' };
}

function rankOf({ group, fits }: Pick<Proposal, 'group' | 'fits'>): number {
  const at = FIRST.indexOf(group);
  return fits ? (at < 0 ? FIRST.length : at) : FIRST.length + 1;
}

/** Sorts a segment before the wildcard that also matches it, since the first route that matches applies. */
function sortable(pattern: string): string {
  return pattern.replaceAll('{member.id}', '\u{10FFFD}').replaceAll('*', '\u{10FFFE}');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether the order of two routes does not matter, or is right: the later one may only be the wider one. */
function areApart(earlier: Proposal, later: Proposal): boolean {
  const [first, second] = [segmentsOf(earlier.pattern), segmentsOf(later.pattern)];
  if (!overlap(first, second)) return true;
  const isGuarded = later.pattern.includes('{member.id}') && !earlier.pattern.includes('{member.id}');
  return !isGuarded && (earlier.scope === later.scope || covers(second, first));
}

function isPlain({ path }: DescribedOperation): boolean {
  return !path.includes('{');
}

/** Whether an address answers as an API: with JSON, if only that a sign-in or a parameter is missing. */
function isThere(answer: SiteAnswer | undefined): boolean {
  if (answer === undefined || answer.cut) return false;
  const { status } = answer;
  if (status === 404 || status === 405 || status === 410 || status >= 500) return false;
  return jsonObject(answer) !== undefined || (status === 200 && /^\s*\[/.test(answer.text));
}
