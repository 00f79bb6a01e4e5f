import { failure, pass, type Verdict, warning } from '../../finding.ts';
import { type GatewayCheck, gatewayChecks } from '../check.ts';
import type { ExaminedGateway } from '../gateway.ts';
import { BAD_TOKEN, oddRequests } from '../odd-requests.ts';
import { fieldOf, type RawAnswer } from '../raw-answers.ts';

/** Whether clients see how the auth service refuses them. */
export const REFUSALS: readonly GatewayCheck[] = [
  ...gatewayChecks(['refused'], {
    'refusal.challenge': {
      title: 'A 401 with its challenge reaches the client',
      reference: 'RFC 9110 section 15.5.2, RFC 6750 section 3',
      fix: 'Pass on the 401 of the auth service with WWW-Authenticate: apps find the way to sign in by it. APISIX needs it in "client_headers", HAProxy "hdr WWW-Authenticate".',
      run: async (gateway, { anonymous }) => {
        const refusals = [
          ['without a token', anonymous.answers[0]],
          ['with an invalid token', await answerTo(gateway, BAD_TOKEN)],
        ] as const;
        const problems = refusals.flatMap(([what, answer]) => lostChallenge(what, answer, 401) ?? []);
        return problems.length > 0 ? problems : pass('without a token, and with an invalid one');
      },
    },
    'refusal.body': {
      title: 'A refusal has the body of the auth service',
      reference: 'RFC 9110 section 15.5, RFC 9457',
      fix: 'Pass on the body too: apps read JSON. nginx replaces it with a page of its own, unless "error_page" fetches the true answer.',
      run: async (gateway, { anonymous }) => {
        const answers = [anonymous.answers[0], await answerTo(gateway, BAD_TOKEN), await forbidden(gateway)];
        const page = answers.find((answer) => answer !== undefined && isPage(answer));
        return page === undefined ? pass('no HTML page') : warning(`${page.status} with an HTML page`);
      },
    },
    'refusal.status': {
      title: 'No refusal becomes a server error',
      reference: 'RFC 9110 section 15.6',
      fix: 'Pass on the status of the auth service. nginx turns all but 401 and 403 into 500: answer one of these, and restore the true answer with "error_page".',
      run: async (gateway) => {
        const problems: Verdict[] = [];
        for (const { what, answers } of await oddRequests(gateway)) {
          const status = answers[0]?.status ?? 0;
          if ([500, 502, 504].includes(status)) problems.push(failure(`${what} gets ${status}`));
        }
        return problems.length > 0 ? problems : pass('no 500, 502 or 504');
      },
    },
  }),
  ...gatewayChecks(['admitted', 'forbidden'], {
    'refusal.forbidden': {
      title: 'A 403 with its challenge reaches the client',
      reference: 'RFC 6750 section 3.1 (insufficient_scope)',
      fix: 'Pass on the 403 of the auth service with WWW-Authenticate: apps ask the member for the missing scope then. nginx drops it, unless "error_page" fetches the true answer.',
      run: async (gateway) => {
        const answer = await forbidden(gateway);
        return lostChallenge(`with the token at ${gateway.forbiddenPath}`, answer, 403) ?? pass('403 with a challenge');
      },
    },
  }),
  ...gatewayChecks([], {
    'refusal.retry-after': {
      title: 'A 429 or 503 says when to come back',
      reference: 'RFC 6585 section 4, RFC 9110 section 10.2.3',
      fix: 'Pass on Retry-After: clients without it retry at once. Envoy needs it in "allowed_client_headers"; write it into a 503 of the gateway’s own, too.',
      run: ({ busy }) => {
        const without = busy.find((answer) => fieldOf(answer, 'retry-after') === '');
        if (without !== undefined) return warning(`${without.status} without Retry-After`);
        if (busy.length > 0) return pass(`${busy.length} answers`);
        return { level: 'skipped', seen: 'no attack was answered with 429 or 503' };
      },
    },
  }),
];

async function answerTo(gateway: ExaminedGateway, authorization: string): Promise<RawAnswer | undefined> {
  return (await gateway.attempt({ authorization })).answers[0];
}

/** The answer to the token at a path that it may not open. */
async function forbidden({ bearer, forbiddenPath, attempt }: ExaminedGateway): Promise<RawAnswer | undefined> {
  if (bearer === undefined || forbiddenPath === undefined) return undefined;
  return (await attempt({ target: forbiddenPath, authorization: bearer })).answers[0];
}

function lostChallenge(what: string, answer: RawAnswer | undefined, expected: number): Verdict | undefined {
  if (answer?.status !== expected) return failure(`${what}: ${answer?.status ?? 'no answer'} instead of ${expected}`);
  if (fieldOf(answer, 'www-authenticate') === '') return failure(`${what}: ${expected} without WWW-Authenticate`);
  return undefined;
}

function isPage(answer: RawAnswer): boolean {
  return (
    [401, 403].includes(answer.status) &&
    (/html/i.test(fieldOf(answer, 'content-type')) || /^\s*<(!doctype|html)/i.test(answer.text))
  );
}
