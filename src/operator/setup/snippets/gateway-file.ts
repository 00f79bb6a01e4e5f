import Mustache from 'mustache';
import { DECISION_FIELDS } from '../../../decisions/protocol.ts';
import { IDENTITY_FIELDS } from '../../../http/identity-fields.ts';
import { installedPath, readInstalled } from '../../../installation.ts';
import {
  CORS_RESPONSE_FIELDS,
  DECISION_LIMITS,
  firstLine,
  MEMBER_CACHE_CONTROL,
  type PluginPlan,
} from './plugin-plan.ts';
import { UNUSUAL_TARGETS } from './targets.ts';

/** What the files of all gateways are filled in with. A gateway adds what only its format needs. */
export function gatewayView(plan: PluginPlan) {
  const { fingerprint, decisions, origin, gate, own, protectedPaths, upstreams, largestBody } = plan;
  const { secret } = decisions;
  return {
    firstLine: firstLine(plan),
    origin,
    gate,
    /** What the gateway sends with each question. */
    asking: [
      { name: DECISION_FIELDS.config, value: fingerprint },
      ...(secret === undefined ? [] : [{ name: DECISION_FIELDS.secret, value: secret }]),
    ],
    limits: DECISION_LIMITS,
    unusual: UNUSUAL_TARGETS,
    own: own.join('|'),
    protectedPaths,
    upstreams: upstreams.map((upstream) => ({
      ...upstream,
      /** What it is asked for. */
      paths: protectedPaths.filter((path) => path.upstream === upstream),
    })),
    largestBody: largestBody ?? 0,
    identity: IDENTITY_FIELDS.map((name) => ({ name, lower: name.toLowerCase() })),
    cors: Object.entries(CORS_RESPONSE_FIELDS).map(([name, value]) => ({ name, value })),
    memberCacheControl: MEMBER_CACHE_CONTROL,
  };
}

/** What stands for the names in a template, and for the sections of a list or an object. */
export type GatewayView = Readonly<Record<string, unknown>>;

/**
 * A file of `integrations/gateways`, which is a template of Mustache, filled in. `{{name}}` stands for a value as `quoted`
 * writes it in the quotes of that format, and `{{{name}}}` for the value as it is. Throws Error for a name without a value.
 */
export function gatewayFile(
  path: string,
  view: GatewayView,
  quoted: (text: string) => string = (text) => text,
): string {
  const template = readInstalled(installedPath(`integrations/gateways/${path}`)).toString('utf8');
  return Mustache.render(template, new StrictContext(view), {}, { escape: (value) => quoted(String(value)) });
}

/** Mustache itself would write nothing for a name that it does not know. */
class StrictContext extends Mustache.Context {
  override lookup(name: string): unknown {
    const value = super.lookup(name);
    if (value === undefined) throw new Error(`Nothing is filled in for ${name}.`);
    return value;
  }

  override push(view: unknown): StrictContext {
    return new StrictContext(view, this);
  }
}
