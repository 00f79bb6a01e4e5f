import { field, jsonObject, type SiteAnswer } from './answer.ts';
import { createAsk } from './ask.ts';
import { type AuditOptions, addressOf, runAudit } from './audit.ts';
import type { Check } from './check.ts';
import { CHECKS } from './checks/checks.ts';
import { certificateEnd } from './connection.ts';
import { edgeOf } from './edges.ts';
import type { Facts } from './facts/facts.ts';
import { FINDERS } from './facts/finders.ts';
import { RESOURCE_METADATA_PATH } from './facts/metadata.ts';
import { type FactFinders, findFacts } from './find-facts.ts';
import { notOAuth } from './not-oauth.ts';
import { patiently } from './rate-limit.ts';
import { type Registered, removeAll } from './registrations.ts';
import type { Report } from './report.ts';
import type { ExaminedSite } from './site.ts';
import { Unavailable } from './unavailable.ts';

export interface DoctorOptions extends AuditOptions {
  /** The site, or better the URL that clients use, such as https://school.example/mcp. */
  readonly url: string;
  /** Whether the audit may register apps. They are deleted afterwards where possible. */
  readonly register?: boolean;
  /** Additional trusted certificates, PEM. */
  readonly ca?: string;
  /** The plain http origin of an https site, by default its port 80. */
  readonly plainOrigin?: string;
  /** Whether all checks are run even if the site shows nothing of OAuth, because there is known to be a gate. */
  readonly insist?: boolean;
}

/** Checks that run at the same time. Few, to spare a site in use. */
const AT_A_TIME = 3;
/** Bytes: the OpenAPI document of a gate is the longest that is read. */
const LONGEST_BODY = 1024 * 1024;

/**
 * Examines a deployment from the outside, as apps and assistants see it. Works with any OAuth server that has protected
 * resources. Throws UsageError for an invalid address or selection of checks.
 */
export async function doctor(options: DoctorOptions): Promise<Report> {
  return examineSite(options, { checks: CHECKS, finders: FINDERS, more: {} });
}

/** What a deployment is examined with. `X` is what its checks know besides the site. */
interface SiteTable<X, F extends Facts> {
  readonly checks: readonly Check<ExaminedSite & X, F>[];
  readonly finders: FactFinders<ExaminedSite & X, F>;
  readonly more: X;
}

/** The same with the checks of one table. */
export async function examineSite<X, F extends Facts>(
  options: DoctorOptions,
  { checks, finders, more }: SiteTable<X, F>,
): Promise<Report> {
  const { ca, register, only = [] } = options;
  const insist = options.insist === true || only.length > 0;
  const { origin, path } = addressOf(options.url);
  return runAudit(options, {
    url: origin + path,
    doing: `Checking ${origin}${path}${register === true ? '' : ' without registering an app'}`,
    checks,
    async open(limitsOfAudit, now) {
      const to = { origin, ca, ...limitsOfAudit() };
      const askAsIs = createAsk(to, LONGEST_BODY);
      const registered = register === true ? new Set<Registered>() : undefined;
      const examined: ExaminedSite & X = {
        ...more,
        origin,
        path,
        ask: (url, question) => patiently('the site', to.signal, () => askAsIs(url, question), retryAfter),
        askAsIs,
        plainOrigin: plainOrigin(origin, options.plainOrigin),
        registered,
        certificateEnd: () => certificateEnd(to),
        now,
      };
      const unreachable = await reasonUnreachable(examined);
      if (unreachable !== undefined) throw new Unavailable(unreachable);
      const find = findFacts(examined, finders);
      const nothing = insist ? undefined : await notOAuth(examined, find);
      if (nothing !== undefined) return { nothing };
      return {
        examination: { examined, find, atATime: AT_A_TIME },
        close() {
          // The time for the audit may be over by then.
          const patience = Math.min(to.patience, 5000);
          const tidy = createAsk({ ...to, signal: AbortSignal.any([]), patience }, LONGEST_BODY);
          return removeAll(tidy, registered ?? new Set());
        },
      };
    },
  });
}

/**
 * Why nothing can be examined: the site does not answer, or the server in front of it says that nothing does behind it
 * (RFC 9110 sections 15.6.3 to 15.6.5). Every check would then report the same.
 */
async function reasonUnreachable({ askAsIs, origin, path }: ExaminedSite): Promise<string | undefined> {
  try {
    const answer = await askAsIs(origin + path);
    if (!isGatewayError(answer) || !isGatewayError(await askAsIs(origin + RESOURCE_METADATA_PATH))) return undefined;
    return `the web server answers ${answer.status}: is the gate running?`;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    return /^nothing is listening/.test(why) ? `${why}: is the gate running?` : why;
  }
}

/** The value of Retry-After of a 429. */
function retryAfter(answer: SiteAnswer): string | undefined {
  return answer.status === 429 ? field(answer, 'retry-after') : undefined;
}

/** Whether a proxy answers in place of a server that is down. A document or an OAuth error is an answer of its own. */
function isGatewayError(answer: SiteAnswer): boolean {
  return [502, 503, 504].includes(answer.status) && jsonObject(answer) === undefined && edgeOf(answer) === undefined;
}

/** The plain http origin of an https site. Only for port 443, since other ports have no plain counterpart. */
function plainOrigin(origin: string, given: string | undefined): string | undefined {
  if (!origin.startsWith('https:')) return undefined;
  const { hostname, port } = new URL(origin);
  return given ?? (port === '' ? `http://${hostname}` : undefined);
}
