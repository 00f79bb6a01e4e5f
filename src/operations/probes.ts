import type { RequestListener } from 'node:http';
import { writeAnswer } from '../http/answer.ts';

const PATHS: readonly string[] = ['/livez', '/readyz', '/metrics'];

/**
 * What of the admin listener may be asked from another machine: a kubelet's probes and Prometheus, who both come to the
 * address of the pod. In: the admin listener's handler. Out: a handler that passes these on to it, without their query
 * (what it would tell an operator in more words is not for everybody), and answers 404 to all else.
 */
export function probesHandler(admin: RequestListener): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    if (PATHS.includes(path) && (request.method === 'GET' || request.method === 'HEAD')) {
      request.url = path;
      return admin(request, response);
    }
    writeAnswer(response, {
      status: 404,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: 'not found\n',
    });
  };
}
