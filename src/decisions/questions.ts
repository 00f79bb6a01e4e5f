import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Answer, GatewayError, renderFailure } from '../errors.ts';
import { writeAnswer } from '../http/answer.ts';
import { fieldValues } from '../http/field-values.ts';
import { isSameSecret } from '../http/same-secret.ts';
import type { Log } from '../operations/log.ts';
import { createLogThrottle } from '../operations/log-throttle.ts';
import type { DecisionResponse } from './decision-response.ts';
import type { Decisions } from './decisions.ts';
import { tellNginx, unpacked } from './nginx-answer.ts';
import { familyAt } from './original-request.ts';
import { DECISION_FIELDS, DECISION_PATHS } from './protocol.ts';

/** Names in lower case. */
const [SECRET, ANSWER] = [DECISION_FIELDS.secret.toLowerCase(), DECISION_FIELDS.answer.toLowerCase()] as const;

interface QuestionsParts {
  readonly clock: () => number;
  readonly log: Pick<Log, 'warn'>;
  /** Undefined: everyone who can reach the listener may ask. */
  readonly secret: string | undefined;
}

/** Handles what arrives at the decision listener. Hands questions to `decide` if the gateway knows the secret. */
export function createQuestions({ clock, log, secret }: QuestionsParts, decide: Decisions) {
  const throttled = createLogThrottle({ clock, lines: 1, apart: 60_000 });

  const mayAsk = (given: readonly string[]): boolean => {
    if (secret === undefined || (given.length === 1 && isSameSecret(given[0] as string, secret))) return true;
    throttled('', (suppressed) =>
      log.warn({ suppressed }, 'a gateway was refused: it sent another secret than listen.decisions.secret, or none'),
    );
    return false;
  };

  return (request: IncomingMessage, response: DecisionResponse): void => {
    const { rawHeaders, url = '' } = request;
    const allowed = mayAsk(fieldValues(rawHeaders, SECRET));
    const family = familyAt(url);
    if (allowed && family !== undefined) {
      if (family === 'nginx') response.tell = tellNginx;
      decide(request, response, family);
      return;
    }
    // Without a family it is a mistake of the operator, if not nginx with an answer for its client: nothing passes.
    writeAnswer(response, keptAnswer(allowed && url === DECISION_PATHS.answer ? fieldValues(rawHeaders, ANSWER) : []));
  };
}

/** The answer to a refused request, which nginx brings back for the client; a 503 if there is none. */
function keptAnswer(sent: readonly string[]): Answer {
  const answer = sent.length === 1 ? unpacked(sent[0] as string) : undefined;
  return answer ?? renderFailure(new GatewayError('store_unavailable'), 'problem', randomUUID());
}
