import { decodeHTMLStrict } from 'entities/decode';
import type { ScopeConfig } from '../../../config/schema.ts';
import { excess, isHtml, jsonObject, pageTitle, type SiteAnswer, strings } from '../../doctor/answer.ts';
import { readDescription } from './description.ts';
import { findJsonLogin, findWhoami, whoamiPaths } from './json-login.ts';
import type { PresetFile } from './preset-file.ts';
import type { SeenSite, SiteProbe } from './probe.ts';
import { addressesToTry, propose } from './proposals.ts';
import USUAL from './usual-addresses.json' with { type: 'json' };

export type Discoveries = Awaited<ReturnType<typeof discover>>;

/** The pages that `discover` needs. */
export const DISCOVERY_PAGES: readonly string[] = USUAL.pages;
const DOCUMENTS = [...USUAL.descriptions, ...USUAL.whoami, '/api', '/api/'];

/** Text of the site goes into the configuration only if it matches one of these. */
const PATH = /^(\/[A-Za-z0-9._~-]{1,64}){1,8}\/?$/;
const RETURN = 'next|return_to|returnTo|return_url|returnUrl|redirect_to|redirect_uri|redirect|continue|wantsurl';
const PARAMETER = new RegExp(`name=["'](${RETURN})["']`);
/** Segments of the path of a sign-in page, such as /en/auth/: a page that a script draws has no password field. */
const SIGN_IN = /\/(auth|log-?in|sign-?_?in|account\/login|sso)(\.\w{2,4})?\/?$/i;
const SLUG = /^[a-z0-9_-]{1,64}$/i;

/** What the site reveals to an anonymous visitor that its configuration needs. Its pages have been visited. */
export async function discover(
  probe: SiteProbe,
  preset: PresetFile | undefined,
  scopes: Readonly<Record<string, ScopeConfig>>,
) {
  const { answers, cookies, unreachable, landing } = await probe.request(DOCUMENTS, 'app');
  const [found] = USUAL.descriptions.flatMap((path) => {
    const description = readDescription(answers.get(path));
    return description === undefined ? [] : [{ path, description }];
  });
  const description = found?.description;
  if (description !== undefined)
    await probe.request([...whoamiPaths(description), ...addressesToTry(description, scopes)], 'app');
  const landed = landedLogin(landing, answers.get('/'));
  const loginPath =
    USUAL.pages.find((path) => hasPasswordField(answers.get(path))) ?? landed?.path ?? linkedLogin(answers.get('/'));
  const isLanding = landed !== undefined && loginPath === landed.path;
  const form = answers.get(isLanding ? '/' : (loginPath ?? ''))?.text ?? '';
  const set = sessionCookies([...cookies]);
  const session = preset?.sessionCookies ?? (set.length > 0 ? set : (description?.cookies ?? []));
  return {
    /** The path of a page with a password field; undefined when none was found. */
    loginPath,
    /** The parameter of the login page that holds the return address; undefined when none was found. */
    returnParam: PARAMETER.exec(form)?.[1] ?? (isLanding ? landed.returnParam : undefined),
    sessionCookies: session,
    /** The other cookies that the site set. */
    otherCookies: [...cookies].filter((name) => !session.includes(name)).slice(0, 10),
    /** A sign-in without a page; undefined when none was found, or when there is a page. */
    jsonLogin:
      preset === undefined && loginPath === undefined && unreachable === undefined
        ? await findJsonLogin(probe, description)
        : undefined,
    /** An address that identifies the signed-in member: without a session it answers 401 or 403 in JSON. */
    whoami: findWhoami(description, answers),
    /** What apps could read, by the site's API description. */
    proposals: description === undefined ? [] : propose(description, answers, scopes),
    /** The API descriptions that are too large to be read, each with the limit that it exceeds. */
    unread: description === undefined ? USUAL.descriptions.flatMap((path) => unread(path, answers.get(path))) : [],
    /** The number of addresses with a GET in the API description. */
    described: description?.operations.length ?? 0,
    /** The path of the API description, or of an address that answers in JSON. */
    api: found?.path ?? ['/wp-json/', '/api', '/api/'].find((path) => isJson(answers.get(path))),
    /** What `# needs` in a preset can name. */
    features: new Set(strings(memberAt(answers, preset?.features))),
    /** The name in the site's addresses, if the preset says where it is. */
    slug: slugIn(memberAt(answers, preset?.slug)),
    /** The title of the front page. */
    title: titleOf(answers.get('/'), preset?.nameInHeading === true),
  };
}

function unread(path: string, answer: SiteAnswer | undefined): readonly string[] {
  if (answer?.status !== 200 || isHtml(answer)) return [];
  const why = answer.cut ? 'has more than 4 MiB' : excess(answer);
  return why === undefined ? [] : [`${path} ${why}`];
}

function hasPasswordField(answer: SiteAnswer | undefined): boolean {
  return answer?.status === 200 && isHtml(answer) && /<input[^<>]{0,300}type=["']?password/i.test(answer.text);
}

/** The page to which the front page sends visitors, if it looks like a sign-in page. */
function landedLogin(landing: string, page: SiteAnswer | undefined) {
  const { pathname, searchParams } = new URL(landing, 'http://site');
  const looksRight = hasPasswordField(page) || (page?.status === 200 && isHtml(page) && SIGN_IN.test(pathname));
  if (pathname === '/' || !looksRight || !PATH.test(pathname)) return undefined;
  const isReturn = new RegExp(`^(${RETURN})$`);
  return { path: pathname, returnParam: [...searchParams.keys()].find((name) => isReturn.test(name)) };
}

/** A link on the front page that looks like a login page. */
function linkedLogin(home: SiteAnswer | undefined): string | undefined {
  if (home === undefined || !isHtml(home)) return undefined;
  const found = /href=["'](\/[\w./-]{0,80}(?:log-?in|sign-?_?in)[\w./-]{0,40})["'?]/i.exec(home.text)?.[1];
  return found !== undefined && PATH.test(found) ? found : undefined;
}

function isJson(answer: SiteAnswer | undefined): boolean {
  return answer !== undefined && answer.status !== 404 && answer.status < 500 && jsonObject(answer) !== undefined;
}

function memberAt(answers: SeenSite['answers'], place: PresetFile['features']): unknown {
  const answer = answers.get(place?.json ?? '');
  return answer === undefined ? undefined : jsonObject(answer)?.[place?.member ?? ''];
}

function slugIn(value: unknown): string | undefined {
  return typeof value === 'string' && SLUG.test(value) ? value : undefined;
}

function sessionCookies(names: readonly string[]): readonly string[] {
  return names
    .filter(
      (name) =>
        /sess|sid\b|auth|remember|login/i.test(name) && !/csrf|xsrf|test|^coursegate_|^__Host-coursegate_/i.test(name),
    )
    .slice(0, 5);
}

/** The name of the site: the title of its front page, without words that every front page has. */
function titleOf(home: SiteAnswer | undefined, inHeading: boolean): string | undefined {
  if (home === undefined || home.status !== 200 || !isHtml(home)) return undefined;
  const heading = inHeading ? HEADING.exec(home.text)?.[1]?.trim() : undefined;
  const parts = decodeHTMLStrict(heading ?? pageTitle(home))
    .replaceAll('"', '”')
    .split(/\s[|–—·-]\s/)
    .filter((part) => !/^(home( ?page)?|start(seite)?|welcome|index|log ?in|sign ?in)$/i.test(part.trim()));
  const name = parts.join(' | ').trim();
  // Only words and their punctuation: the title must not be able to inject YAML into the file.
  return /^[\p{L}\p{N}„“”‘«][\p{L}\p{N} .,:;!?&()’'|„“”‘«»–-]{0,63}$/u.test(name) ? name : undefined;
}

const HEADING = /<h1[^<>]{0,300}>(?:\s{0,20}<[^<>]{0,300}>){0,4}([^<]{1,200})</i;
