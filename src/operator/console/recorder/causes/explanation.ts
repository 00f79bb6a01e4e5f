import { once } from '../../../../http/once.ts';
import { filled, readTexts, textFiles } from '../../../texts.ts';
import { type Cause, type Stopped, sent, type TextValues } from './cause.ts';
import { causeOf } from './causes.ts';

export const causeTexts = once(() =>
  readTexts(textFiles('operator/console/recorder/causes'), ['title', 'why', 'docs'], ['operator', 'developer']),
);

/** Explains why an attempt stopped, by the first cause that fits. */
export const explanationOf = (stopped: Stopped) => explanationBy(causeOf(stopped), stopped);

/** Explains why an attempt stopped, by this cause, in words for the operator. */
export function explanationBy({ id, values }: Cause, stopped: Stopped) {
  const texts = causeTexts().get(id);
  if (texts === undefined) throw new Error(`The cause ${id} has no texts.`);
  const all = { ...usualValues(stopped), ...values?.(stopped) };
  const { title, why, operator, developer, docs } = texts;
  return {
    id,
    /** One line for the list. */
    title,
    why: filled(why, all),
    /** What the operator can do; undefined: nothing. */
    operator: operator && filled(operator, all),
    /** What the app's developer has to change; undefined: nothing. */
    developer: developer && filled(developer, all),
    /** Below docs/, with the heading. */
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
