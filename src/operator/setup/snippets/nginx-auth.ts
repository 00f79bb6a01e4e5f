import { DECISION_FIELDS, DECISION_PATHS } from '../../../decisions/protocol.ts';
import type { FailureCode } from '../../../errors.ts';
import { IDENTITY_FIELDS } from '../../../http/identity-fields.ts';
import type { AskingGateway } from './gateway.ts';
import { gatewayView, inLines } from './gateway-file.ts';
import { inDoubleQuotes, requestVariable, variableName } from './nginx-text.ts';
import { type PluginPlan, type PluginUpstream, problemBody } from './plugin-plan.ts';

export const nginxAuth = {
  name: 'nginx-auth',
  title: 'nginx',
  plugin: 'nginx',
  unixSockets: true,
  templates: ['nginx/coursegate-http.conf', 'nginx/coursegate.conf'],
  quoted: inDoubleQuotes,
  view: viewOf,
  notes: ({ plainIdentity }) =>
    plainIdentity
      ? [
          'nginx before 1.23 (Debian 12) answers 503 with these files, because it cannot keep clients from sending X-Member-Id to the site. Use a newer one (nginx -v), or `identity: [assertion]` for all upstreams, and a drop-in.',
        ]
      : [],
} as const satisfies AskingGateway;

/** For the `http` block, and for the `server` block of the site. */
function viewOf(plan: PluginPlan) {
  const identity = (plan.plainIdentity ? IDENTITY_FIELDS : ['X-Coursegate-Assertion']).map(answered);
  const view = gatewayView(plan);
  return {
    ...view,
    ofVariable: plan.of.replaceAll('-', '_'),
    forged: IDENTITY_FIELDS.map(requestVariable).join(''),
    ownTargets: joined(plan.own),
    paths: DECISION_PATHS,
    asked: directives([
      ...view.asking.map(({ name, value }) => sent(name, value)),
      sent(DECISION_FIELDS.answer, answered(DECISION_FIELDS.answer).kept),
    ]),
    identity: directives(identity.map(({ name, kept }) => sent(name, kept))),
    answered: directives(
      [...identity, ...['RateLimit', 'RateLimit-Policy', DECISION_FIELDS.answer].map(answered)].map(
        ({ kept, variable }) => `auth_request_set ${kept} ${variable};`,
      ),
    ),
    upstreams: view.upstreams.map((upstream) => ({
      ...upstream,
      fields: directives(upstream.requestFields.map((name) => sent(name, requestVariable(name)))),
      hidden: directives(['cache-control', ...upstream.hiddenFields].map((name) => `proxy_hide_header ${name};`)),
      tls: tls(upstream),
      // Event streams may be silent for a while, and nginx cannot tell them from other responses.
      silence: Math.max(upstream.timeout, 60),
    })),
    unavailable: ownBody('store_unavailable'),
    tooLarge: ownBody('payload_too_large'),
  };
}

/** A field of the decision's answer. */
function answered(name: string) {
  const variable = variableName(name);
  return {
    name,
    variable: `$upstream_http_${variable}`,
    kept: `$coursegate_${variable.replace(/^x_(member_|coursegate_)?/, '')}`,
  };
}

/** Directives in lines of readable length. */
function directives(all: readonly string[]): readonly string[] {
  return inLines(all, 150, '');
}

function sent(name: string, value: string): string {
  return `proxy_set_header ${name} ${value};`;
}

function tls({ scheme, hostname, servername }: PluginUpstream) {
  if (scheme === 'http') return false;
  return servername === '' ? { name: hostname, named: 'off' } : { name: servername, named: 'on' };
}

/** In bytes. A word of nginx's configuration has at most 4096, and quoting doubles some characters. */
const LONGEST_EXPRESSION = 3_500;

/** Alternatives, in as few expressions as nginx can read: each one costs every request. */
function joined(expressions: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const one of expressions) {
    const longer = lines.length === 0 ? one : `${lines.at(-1)}|${one}`;
    if (lines.length === 0 || Buffer.byteLength(inDoubleQuotes(longer)) > LONGEST_EXPRESSION) lines.push(one);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** In single quotes. */
function ownBody(code: FailureCode): string {
  return problemBody(code, '$request_id').replace(/['\\]/g, '\\$&');
}
