import { failure, pass } from '../../finding.ts';
import { type GatewayCheck, gatewayChecks } from '../check.ts';

/** Whether the checks can see anything. */
export const ECHO: readonly GatewayCheck[] = [
  ...gatewayChecks([], {
    'echo.reached': {
      title: 'Requests reach the echo server',
      reference: 'docs/doctor.md, "Attack your own gateway"',
      fix: 'Route the path of --echo through the gateway, protected as usual, to the echo server (--echo-server starts one), and give a token that opens it.',
      run({ echoPath, openPath }, { withToken, admitted, open }) {
        if (admitted !== undefined) return pass(`${echoPath} with the token`);
        const status = (withToken?.answers[0]?.status ?? 'no answer').toString();
        if (withToken !== undefined) return failure(`${echoPath} with the token: ${status}, without an echo`);
        if (open !== undefined) return pass(`${openPath}; ${echoPath} itself was not tried with a token`);
        return failure(`no token was given, and ${openPath} does not reach an echo server`);
      },
    },
  }),
  ...gatewayChecks(['echo'], {
    'echo.protected': {
      title: 'The echo path needs a token',
      reference: 'RFC 6750 section 3.1',
      fix: 'Ask the auth service about this path: nginx "auth_request", Caddy "forward_auth", Traefik ForwardAuth, Envoy ext_authz. If the path is meant to be open, name a protected one with --echo.',
      run: ({ echoPath }, { anonymous: { answers, echoes } }) =>
        echoes.length > 0
          ? failure(`GET ${echoPath} without a token reached the backend`)
          : pass(`${answers[0]?.status ?? 'no answer'} without a token`),
    },
  }),
];
