import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type GateProcess, gateProcess } from '../faults/gate-process.ts';
import { registerApp } from '../support/app.ts';
import { approved, token } from '../support/connection.ts';
import { missing } from '../support/missing.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';

/** The recording upstream also serves the site. */
const SITE = { COURSEGATE__SITE__UPSTREAM: 'progress' };

/** A folder with `@opentelemetry/auto-instrumentations-node` installed; it is not one of our dependencies. */
const MODULES = process.env.COURSEGATE_OTEL_MODULES;

function openTelemetryPresent(): boolean {
  if (MODULES !== undefined) return true;
  return missing('no OpenTelemetry found: `npm run test:otel` installs one beside the project and runs its test', true);
}

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 2 is a server span, 3 a client span. */
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

interface Collector {
  readonly url: string;
  readonly spans: Span[];
  readonly services: Set<unknown>;
  close(): Promise<void>;
}

/** A minimal OpenTelemetry collector: OTLP over HTTP as JSON. */
async function startCollector(): Promise<Collector> {
  const spans: Span[] = [];
  const services = new Set<unknown>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.url === '/v1/traces') {
      for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
        services.add(resource.attributes.find(({ key }: { key: string }) => key === 'service.name')?.value.stringValue);
        for (const { spans: more } of scopeSpans) spans.push(...more);
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    services,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;

describe.skipIf(!openTelemetryPresent())('a gate with OpenTelemetry loaded through NODE_OPTIONS', () => {
  const run = async (
    work: (world: { gate: GateProcess; collector: Collector; upstream: RecordingUpstream }) => Promise<void>,
    environment: Readonly<Record<string, string>> = {},
  ) => {
    const collector = await startCollector();
    const upstream = await startRecordingUpstream();
    const home = join(MODULES ?? '', '@opentelemetry/auto-instrumentations-node');
    const { exports } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
    // What `--import @opentelemetry/auto-instrumentations-node/register` resolves to where it is installed.
    const register = join(home, exports['./register'].default.default);
    const gate = await gateProcess({
      profile: 'B',
      environment: {
        NODE_OPTIONS: `--import=${pathToFileURL(register).href}`,
        OTEL_SERVICE_NAME: 'coursegate',
        OTEL_NODE_ENABLED_INSTRUMENTATIONS: 'http,undici',
        OTEL_TRACES_EXPORTER: 'otlp',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: '200',
        COURSEGATE__UPSTREAMS__PROGRESS__URL: upstream.url,
        COURSEGATE__ROUTES: '[{ match: "GET /api/v1/courses/**", upstream: progress }]',
        COURSEGATE__LOG__ACCESS: 'true',
        COURSEGATE__LOG__LEVEL: 'info',
        ...environment,
      },
    });
    try {
      await gate.start();
      await work({ gate, collector, upstream });
    } finally {
      await gate.close();
      await collector.close();
      await upstream.close();
    }
  };

  it(
    'reports a request and its upstream call in the client’s trace, which the log names too',
    { timeout: 180_000 },
    () =>
      run(async ({ gate, collector, upstream }) => {
        // The protected lane and the site lane.
        for (const path of ['/api/v1/courses/42', '/a/page/of/the/site']) {
          collector.spans.length = 0;
          await (await fetch(`${gate.origin}${path}`, { headers: { traceparent: PARENT } })).text();
          // There are also spans of sockets and DNS lookups inside them.
          const ours = () => collector.spans.filter(({ traceId, kind }) => traceId === TRACE && kind > 1);
          await expect
            .poll(
              () =>
                ours()
                  .map(({ kind }) => kind)
                  .toSorted(),
              { timeout: 60_000 },
            )
            .toEqual([2, 3]);
          const [server, client] = [2, 3].map((kind) => ours().find((span) => span.kind === kind));
          expect(server?.parentSpanId).toBe('b7ad6b7169203331');
          expect(client?.parentSpanId).toBe(server?.spanId);
          // Exactly one field, from the span of the call: with a second one, both would be useless.
          expect(upstream.last().values('traceparent')).toEqual([`00-${TRACE}-${client?.spanId}-01`]);
          await expect
            .poll(() => gate.output(), { timeout: 60_000 })
            .toMatch(new RegExp(`"path":"${path}".*"trace_id":"${TRACE}"`));
        }
        expect([...collector.services]).toEqual(['coursegate']);
      }, SITE),
  );

  it(
    'reports its own calls in the trace of the request that caused them, which the audit log names',
    { timeout: 180_000 },
    () =>
      run(async ({ gate, collector }) => {
        const app = await registerApp(gate.origin);
        await token(app, (await approved(app)).form);
        const line = gate
          .log()
          .split('\n')
          .find((text) => text.includes('"event.action":"signed_in"'));
        const { 'trace.id': trace } = JSON.parse(line ?? '{}');
        expect(trace).toMatch(/^[0-9a-f]{32}$/);
        // The gate's question to the school about who is signed in is part of the trace.
        const calls = () => collector.spans.filter(({ traceId, kind }) => traceId === trace && kind === 3);
        await expect.poll(() => calls().length, { timeout: 60_000 }).toBeGreaterThan(0);
      }),
  );

  it('sends the trace to the upstream even if undici is not instrumented', () =>
    run(
      async ({ gate, collector, upstream }) => {
        await (await fetch(`${gate.origin}/api/v1/courses/42`, { headers: { traceparent: PARENT } })).text();
        const server = () => collector.spans.find(({ traceId, kind }) => traceId === TRACE && kind === 2);
        await expect.poll(server, { timeout: 60_000 }).toBeDefined();
        expect(upstream.last().values('traceparent')).toEqual([`00-${TRACE}-${server()?.spanId}-01`]);
      },
      { OTEL_NODE_ENABLED_INSTRUMENTATIONS: 'http' },
    ));
});
