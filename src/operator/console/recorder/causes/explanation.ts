import { once } from '../../../../http/once.ts';
import { filled, readTexts, textFiles } from '../../../texts.ts';
import { type Cause, type Stopped, sent, type TextValues } from './cause.ts';
import { causeOf } from './causes.ts';

/** Why an attempt stopped, in words for the operator. */
export interface Explanation {
  readonly id: string;
  /** One line for the list. */
  readonly title: string;
  readonly why: string;
  /** What the operator can do; undefined: nothing. */
  readonly operator: string | undefined;
  /** What the app's developer has to change; undefined: nothing. */
  readonly developer: string | undefined;
  /** Below docs/, with the heading. */
  readonly docs: string;
}

export const causeTexts = once(() =>
  readTexts(textFiles('operator/console/recorder/causes'), ['title', 'why', 'docs'], ['operator', 'developer']),
);

/** Explains why an attempt stopped, by the first cause that fits. */
export const explanationOf = (stopped: Stopped): Explanation => explanationBy(causeOf(stopped), stopped);

/** Explains why an attempt stopped, by this cause. */
export function explanationBy({ id, values }: Cause, stopped: Stopped): Explanation {
  const texts = causeTexts().get(id);
  if (texts === undefined) throw new Error(`The cause ${id} has no texts.`);
  const all = { ...usualValues(stopped), ...values?.(stopped) };
  const { title, why, operator, developer, docs } = texts;
  return {
    id,
    title,
    why: filled(why, all),
    operator: operator && filled(operator, all),
    developer: developer && filled(developer, all),
    docs,
  };
}

/** The parameters of a request that texts name. */
const PARAMETERS = [
  'content-type',
  'redirect_uri',
  'redirect_uris',
  'resource',
  'response_type',
  'scope',
  'token_endpoint_auth_method',
];

/** Values that the texts of every cause may have. `answer` is what the gate said to the app. */
function usualValues(stopped: Stopped): TextValues {
  const { at, origin, codeLifetime, replayWindow } = stopped;
  const { status, endpoint, clientId, error, description, detail } = at;
  return {
    ...Object.fromEntries(PARAMETERS.map((name) => [name, sent(stopped, name)])),
    ...{ origin, codeLifetime, replayWindow, status, endpoint, clientId, error, description, detail },
    answer: description ?? error ?? status,
  };
}
