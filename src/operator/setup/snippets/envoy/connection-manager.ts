import { OWN_IDENTITY } from '../../../../http/identity-fields.ts';
import { CORS_RESPONSE_FIELDS, fieldExpression, problemBody } from '../plugin-options.ts';

const FORGED = `(?i)${fieldExpression([...OWN_IDENTITY, 'x-envoy-*'])}`;

/** Removes names of this gate's identity, and of what Envoy itself takes orders from. */
export const FORGED_REMOVED = [
  {
    name: 'envoy.http.early_header_mutation.header_mutation',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation',
      mutations: [{ remove_on_match: { key_matcher: { safe_regex: { regex: FORGED } } } }],
    },
  },
];

/** The status with which Envoy reports that it could not ask. Nothing else gives it, so that the gate's own 503 stays. */
const NOT_ASKED = 508;

/** Clients get the gate's 503 if Envoy could not ask, or could not connect. */
export const LOCAL_REPLIES = {
  mappers: [
    {
      filter: {
        or_filter: {
          filters: [
            {
              status_code_filter: {
                comparison: { op: 'EQ', value: { default_value: NOT_ASKED, runtime_key: 'coursegate' } },
              },
            },
            { response_flag_filter: { flags: ['UF', 'UH', 'UO'] } },
          ],
        },
      },
      status_code: 503,
      headers_to_add: Object.entries({
        'retry-after': '5',
        'cache-control': 'no-store',
        'x-request-id': '%REQ(X-REQUEST-ID)%',
        ...CORS_RESPONSE_FIELDS,
      }).map(([key, value]) => ({ header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' })),
      body_format_override: {
        content_type: 'application/problem+json',
        text_format_source: { inline_string: problemBody('store_unavailable', '%REQ(X-REQUEST-ID)%') },
      },
    },
  ],
};
