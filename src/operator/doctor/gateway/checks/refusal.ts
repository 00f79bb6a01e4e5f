import { checkEach, failure, pass, type Verdict, warning } from '../../finding.ts';
import { gatewayChecks } from '../facts.ts';
import type { ExaminedGateway } from '../gateway.ts';
import { BAD_TOKEN } from '../odd-requests.ts';
import { fieldOf, type RawAnswer } from '../raw-answers.ts';

/** Whether clients see how the auth service refuses them. */
export const REFUSALS = [
  ...gatewayChecks(['refused'], {
    async 'refusal.challenge'(gateway) {
      const refusals = [
        ['without a token', gateway.anonymous.answers[0]],
        ['with an invalid token', await answerTo(gateway, BAD_TOKEN)],
      ] as const;
      return checkEach('without a token, and with an invalid one', refusals, ([what, answer]) =>
        lostChallenge(what, answer, 401),
      );
    },
    async 'refusal.body'(gateway) {
      const answers = [gateway.anonymous.answers[0], await answerTo(gateway, BAD_TOKEN), await forbidden(gateway)];
      const page = answers.find((answer) => answer !== undefined && isPage(answer));
      return page === undefined ? pass('no HTML page') : warning(`${page.status} with an HTML page`);
    },
  }),
  ...gatewayChecks(['refused', 'oddRequests'], {
    'refusal.status': async ({ oddRequests }) =>
      checkEach(
        'no 500, 502 or 504',
        await oddRequests(),
        ({ what, answers: [answer] }) =>
          [500, 502, 504].includes(answer?.status ?? 0) && failure(`${what} gets ${answer?.status}`),
      ),
  }),
  ...gatewayChecks(['admitted', 'forbiddenPath'], {
    async 'refusal.forbidden'(gateway) {
      const answer = await forbidden(gateway);
      return lostChallenge(`with the token at ${gateway.forbiddenPath}`, answer, 403) ?? pass('403 with a challenge');
    },
  }),
  ...gatewayChecks([], {
    'refusal.retry-after'({ busy }) {
      const without = busy.find((answer) => fieldOf(answer, 'retry-after') === '');
      if (without !== undefined) return warning(`${without.status} without Retry-After`);
      if (busy.length > 0) return pass(`${busy.length} answers`);
      return { level: 'skipped', seen: 'no attack was answered with 429 or 503' };
    },
  }),
];

async function answerTo(gateway: ExaminedGateway, authorization: string): Promise<RawAnswer | undefined> {
  return (await gateway.send({ authorization })).answers[0];
}

/** The answer to the token at a path that it may not open. */
async function forbidden({ bearer, forbiddenPath, send }: ExaminedGateway): Promise<RawAnswer | undefined> {
  if (bearer === undefined || forbiddenPath === undefined) return undefined;
  return (await send({ target: forbiddenPath, authorization: bearer })).answers[0];
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
