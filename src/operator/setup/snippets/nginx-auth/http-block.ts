import { OWN_NAMES } from '../forged-names.ts';
import { hostPort } from '../host-port.ts';
import { block, requestVariable } from '../nginx-text.ts';
import { MEMBER_CACHE_CONTROL, type PluginOptions } from '../plugin-options.ts';
import { destinations } from './destinations.ts';

/** What belongs in the `http` block. */
export function httpBlock(options: PluginOptions): string {
  const { gate, decisions, upstreams } = options;
  const { address } = decisions;
  const asked = 'path' in address ? `unix:${address.path}` : hostPort(address);
  return `# Include this file in the http block (Debian's nginx includes every file in /etc/nginx/conf.d there), and coursegate.conf
# at the top of the server block of the site. coursegate-site.conf says where it belongs. Then: nginx -t${
    'path' in address
      ? '\n# The user that nginx runs as needs the right to write to the Unix socket, which its group has.'
      : ''
  }

${block('upstream coursegate_gate', [`server ${gate};`, 'keepalive 16;'])}
${block('upstream coursegate_decisions', [`server ${asked};`, 'keepalive 64;'])}
# Idle connections are closed before most backends would close them, so that none is used at that moment.
${upstreams.map(({ id, authority }) => block(`upstream coursegate_to_${id}`, [`server ${authority};`, 'keepalive 64;', 'keepalive_timeout 1s;'])).join('')}
# Where a request goes, by its method and its decoded path: "gate" is coursegate, "to_" and a name an upstream that it may
# be forwarded to, and everything else is for the site. Targets that two servers may read differently go to coursegate,
# which judges them. All of this is evaluated once, for the request as the client sent it, and kept for the internal
# requests below.
${destinations(options)}
# The identity of a member, from a client of the site. nginx drops other spellings of these names itself.
${block(`map "$coursegate_destination ${OWN_NAMES.map(requestVariable).join('')}" $coursegate_forged`, ['default "";', '"~^ ." 1;'])}
# Responses to members are never stored, whatever the upstream says.
${block('map "$status $http_authorization" $coursegate_cache_control', [
  `default "${MEMBER_CACHE_CONTROL}";`,
  '"~^[1-3][0-9][0-9] $" $upstream_http_cache_control;',
])}`;
}
