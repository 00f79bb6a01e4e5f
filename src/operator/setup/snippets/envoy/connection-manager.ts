import { OWN_IDENTITY } from '../../../../http/identity-fields.ts';
import { CORS_RESPONSE_FIELDS, fieldExpression, problemBody } from '../plugin-plan.ts';
import { part, type YamlPart } from '../yaml-template.ts';

/** Removes names of this gate's identity, and of what Envoy itself takes orders from. */
export function forgedRemoved(): YamlPart {
  return part('envoy/forged-removed.yaml', { forged: `(?i)${fieldExpression([...OWN_IDENTITY, 'x-envoy-*'])}` });
}

/** Clients get the gate's 503 if Envoy could not ask, or could not connect. */
export function localReplies(): YamlPart {
  return part('envoy/local-replies.yaml', {
    fields: fieldsSet({
      'retry-after': '5',
      'cache-control': 'no-store',
      'x-request-id': '%REQ(X-REQUEST-ID)%',
      ...CORS_RESPONSE_FIELDS,
    }),
    body: problemBody('store_unavailable', '%REQ(X-REQUEST-ID)%'),
  });
}

/** Fields that Envoy sets, as in `headers_to_add`. */
export function fieldsSet(fields: Readonly<Record<string, string>>): readonly object[] {
  return Object.entries(fields).map(([key, value]) => ({
    header: { key, value },
    append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
  }));
}
