import { failure, pass } from '../../finding.ts';
import { gatewayChecks } from '../check.ts';

/** Whether the checks can see anything. */
export const ECHO = [
  ...gatewayChecks([], {
    'echo.reached'({ echoPath, openPath, withToken, admitted, open }) {
      if (admitted !== undefined) return pass(`${echoPath} with the token`);
      const status = (withToken?.answers[0]?.status ?? 'no answer').toString();
      if (withToken !== undefined) return failure(`${echoPath} with the token: ${status}, without an echo`);
      if (open !== undefined) return pass(`${openPath}; ${echoPath} itself was not tried with a token`);
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
