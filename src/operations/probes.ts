import type { RequestListener } from 'node:http';
import { writeAnswer } from '../http/answer.ts';

const PATHS: readonly string[] = ['/livez', '/readyz', '/metrics'];

/**
 * Exposes the part of the admin listener that other machines may request: a kubelet's probes and Prometheus connect to
 * the pod's address. Passes these paths on to `admin` without their query, because the verbose output is for operators
 * only, and answers 404 to everything else.
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
