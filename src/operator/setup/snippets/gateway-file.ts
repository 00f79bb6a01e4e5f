import { DECISION_FIELDS } from '../../../decisions/protocol.ts';
import { IDENTITY_FIELDS } from '../../../http/identity-fields.ts';
import { filledFile, type TemplateView } from '../../../http/template.ts';
import { installedPath } from '../../../installation.ts';
import { CORS_HEADERS } from '../../../request/cors.ts';
import { hostPort } from '../../host-port.ts';
import { DECISION_LIMITS, firstLine, MEMBER_CACHE_CONTROL, type PluginPlan } from './plugin-plan.ts';
import { UNUSUAL_TARGETS } from './targets.ts';

/** What the files of all gateways are filled in with. A gateway adds what only its format needs. */
export function gatewayView(plan: PluginPlan) {
  const { secret, address } = plan.decisions;
  const known = secret === undefined ? [] : [{ name: DECISION_FIELDS.secret, value: secret }];
  return {
    ...plan,
    firstLine: firstLine([plan]),
    /** Whether the gate has other schools. */
    many: plan.of !== '',
    /** What the gateway sends with each question. */
    asking: [{ name: DECISION_FIELDS.config, value: plan.fingerprint }, ...known],
    /** The same without what differs between schools. */
    secret: known,
    socket: 'path' in address,
    /** Where it asks: the path of a Unix socket, or host:port. */
    decisions: 'path' in address ? address.path : hostPort(address),
    limits: DECISION_LIMITS,
    unusual: UNUSUAL_TARGETS,
    own: plan.own.join('|'),
    upstreams: plan.upstreams.map((upstream) => {
      /** What it is asked for. */
      const paths = plan.protectedPaths.filter((path) => path.upstream === upstream);
      return { ...upstream, paths, targets: paths.map(({ targets }) => targets).join('|') };
    }),
    largestBody: plan.largestBody ?? 0,
    identity: IDENTITY_FIELDS.map((name) => ({ name, lower: name.toLowerCase() })),
    /** Of every response on `protectedPaths`. */
    cors: Object.entries(CORS_HEADERS).map(([name, value]) => ({ name, value })),
    memberCacheControl: MEMBER_CACHE_CONTROL,
  };
}

/** A file of `integrations/gateways`, filled in: see `filled`. */
export function gatewayFile(path: string, view: TemplateView, quoted?: (text: string) => string): string {
  return filledFile(installedPath(`integrations/gateways/${path}`), view, quoted);
}

/** Entries in the brackets of YAML, each of them once, in lines of at most so many characters. */
export function inLines(entries: readonly string[], most: number, end = ','): readonly string[] {
  const lines: string[] = [];
  for (const entry of new Set(entries)) {
    const longer = `${lines.at(-1)} ${entry}${end}`;
    if (lines.length === 0 || longer.length > most) lines.push(`${entry}${end}`);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Within the single quotes of YAML. */
export const inSingleQuotes = (text: string): string => text.replaceAll("'", "''");
