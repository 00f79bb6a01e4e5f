import { type App, registerApp } from '../../test/support/app.ts';
import { createBrowser } from '../../test/support/browser.ts';
import { connect, refreshForm, token } from '../../test/support/connection.ts';

/** One chain of refresh tokens. */
export interface RefreshLane {
  readonly app: App;
  refreshToken: string;
  accessToken: string;
}

/** Connects an app `count` times, with the algorithm of its ID tokens and with these scopes. */
export async function refreshLanes(
  origin: string,
  count: number,
  algorithm = 'ES256',
  scope = 'openid courses:read',
): Promise<readonly RefreshLane[]> {
  const app = await registerApp(origin, { metadata: { id_token_signed_response_alg: algorithm } });
  const browser = createBrowser();
  const lanes: RefreshLane[] = [];
  while (lanes.length < count) {
    const tokens = await connect(app, { browser, parameters: { scope } });
    lanes.push({ app, refreshToken: String(tokens.refresh_token), accessToken: tokens.access_token });
  }
  return lanes;
}

/** Refreshes once. */
export async function refreshOnce(lane: RefreshLane): Promise<void> {
  const { status, body } = await token(lane.app, refreshForm(lane.app, lane.refreshToken));
  if (status !== 200) throw new Error(`the gate responded with ${status}: ${JSON.stringify(body)}`);
  lane.refreshToken = body.refresh_token;
  lane.accessToken = body.access_token;
}
