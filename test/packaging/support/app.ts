/**
 * An app as a process, for a gate that only a Debian's own network reaches.
 * `node app.ts connect ORIGIN` connects a new app as the demo's member. `node app.ts refresh ORIGIN CLIENT_ID TOKEN` uses
 * its refresh token. Both print the status of the token request, `client_id` and `refresh_token` as one line of JSON.
 */
import { registerApp } from '../../support/app.ts';
import { connect } from '../../support/connection.ts';

const [verb, origin = '', clientId = '', refreshToken = ''] = process.argv.slice(2);

if (verb === 'connect') {
  const app = await registerApp(origin);
  const { refresh_token } = await connect(app, { parameters: { scope: 'openid courses:read' } });
  print(200, app.client.client_id, refresh_token);
} else {
  const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken, resource: origin };
  const answer = await fetch(`${origin}/api/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { refresh_token } = (await answer.json()) as { refresh_token?: string };
  print(answer.status, clientId, refresh_token);
}

function print(status: number, client_id: string, refresh_token: string | undefined): void {
  console.log(JSON.stringify({ status, client_id, refresh_token }));
}
