import { failure, pass } from '../../finding.ts';
import { gatewayChecks } from '../facts.ts';

/** Whether the checks can see anything. */
export const ECHO = [
  ...gatewayChecks([], {
    'echo.reached'({ echoPath, openPath, withToken, opened }) {
      if (withToken !== undefined)
        return withToken.echoes.length > 0
          ? pass(`${echoPath} with the token`)
          : failure(`${echoPath} with the token: ${withToken.answers[0]?.status ?? 'no answer'}, without an echo`);
      if (opened.echoes.length > 0) return pass(`${openPath}; ${echoPath} itself was not tried with a token`);
      return failure(`no token was given, and ${openPath} does not reach an echo server`);
    },
  }),
  ...gatewayChecks(['carrier'], {
    'echo.protected': ({ echoPath, anonymous: { answers, echoes } }) =>
      echoes.length > 0
        ? failure(`GET ${echoPath} without a token reached the backend`)
        : pass(`${answers[0]?.status ?? 'no answer'} without a token`),
  }),
];
