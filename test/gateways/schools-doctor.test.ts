import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { examineGateway } from '../../src/operator/doctor/gateway/gateway-doctor.ts';
import { registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type Schools, startSchools } from '../support/schools.ts';
import { freePort } from '../support/world.ts';
import { nginxMainline } from './kinds/nginx.ts';
import type { GatewayKind, RunningGateway } from './support/gateway-kind.ts';
import { describeKinds, KINDS } from './support/kinds.ts';
import { startSchoolsGateway, takesSchools } from './support/schools-gateway.ts';

const ENVIRONMENT = { DECISIONS: 'a-secret-of-the-gateway-0123456789' };

// The doctor has to find both of them without a name server.
let port: number;
let hosts: Readonly<Record<'one' | 'two', string>>;
let schools: Schools;
let echo: RecordingUpstream;
let site: string;
beforeAll(async () => {
  port = await freePort();
  hosts = { one: `localhost:${port}`, two: `127.0.0.1:${port}` };
  echo = await startRecordingUpstream(({ method, url, rawHeaders }, response) => {
    const headers = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1]]] : []));
    response.end(JSON.stringify({ method, target: url, headers }));
  });
  const settings = (host: string) => ({
    profile: 'B',
    resourceIndicator: 'required',
    anonymous: 'refuse',
    account: { enabled: false },
    origin: `http://${host}`,
    upstreams: { echo: { url: echo.url } },
    routes: [{ match: '* /api/echo/**', upstream: 'echo', scopes: [], forwardedBy: 'gateway' }],
  });
  schools = await startSchools({
    schools: { one: settings(hosts.one), two: settings(hosts.two) },
    main: {
      listen: {
        trustedProxies: ['loopback'],
        decisions: { address: `127.0.0.1:${await freePort()}`, secret: { env: 'DECISIONS' } },
      },
    },
    environment: ENVIRONMENT,
  });
  site = JSON.parse(readFileSync(join(schools.folder, 'template.yaml'), 'utf8')).upstreams.school.url;
});
afterAll(async () => {
  await schools?.close();
  await echo?.close();
});

/** What the doctor says of the token of one school at the other one. */
async function verdicts(kind: GatewayKind, change = (text: string) => text) {
  const names = { one: 'localhost', two: '127.0.0.1' };
  const options = { port, hosts: names, sites: { one: site, two: site }, environment: ENVIRONMENT, change };
  const gateway: RunningGateway = await startSchoolsGateway(kind, schools, options);
  try {
    const origin = `http://${hosts.one}`;
    const { access_token: token } = await connect(await registerApp(origin));
    const only = ['described.school'];
    const { findings } = await examineGateway({
      ...{ url: origin, echo: '/api/echo', token, otherHosts: [hosts.two], only, patience: 5_000 },
    });
    return findings.filter(({ check }) => check === 'described.school').map(({ level, seen }) => `${level}: ${seen}`);
  } finally {
    await gateway.close();
  }
}

describeKinds(
  KINDS.filter((kind) => takesSchools(kind) && kind.assertionOnly !== true),
  'doctor --gateway about two schools behind $name',
  (kind) => {
    it('finds that the token of one opens nothing at the other', async () => {
      expect(await verdicts(kind)).toEqual(['pass: nothing at other schools']);
    });
  },
);

describeKinds([nginxMainline], 'doctor --gateway about two schools behind $name', (kind) => {
  it('finds a file that says of each request that it is for the school of Host', async () => {
    const change = (text: string) => text.replace(/X-Coursegate-Config \S+;/, 'X-Coursegate-Config $http_host/x;');
    expect(await verdicts(kind, change)).toEqual([
      expect.stringMatching(
        /^failure: a request for http:\/\/127\.0\.0\.1:\d+\/api\/echo with Host: localhost:\d+ reached/,
      ),
    ]);
  });
});
