import type { SendingServer } from '../gateway.ts';
import { expressionOf, type SendingPlan, sendingFile, spelled } from '../sending.ts';

export const apache = {
  name: 'apache',
  title: 'Apache',
  file: 'apache.conf',
  write,
} as const satisfies SendingServer;

/** For a VirtualHost. mod_proxy takes precedence over files, PHP and .htaccess, and passes the URL on unchanged. */
function write(plan: SendingPlan): string {
  const guard = (names: readonly string[]) => spelled(names).map((name) => `RequestHeader unset ${name} early`);
  return sendingFile('apache/apache.conf', plan, guard, {
    expression: expressionOf(plan).replaceAll('"', '\\"'),
    upgrade: plan.everything ? ' upgrade=websocket' : '',
  });
}
