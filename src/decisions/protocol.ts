// What a gateway and the decision listener say to each other, for this listener and for the files that configure gateways.

/** The paths of the decision listener. */
export const DECISION_PATHS = {
  nginx: '/decide/nginx',
  forwardAuth: '/decide/forward-auth',
  haproxy: '/decide/haproxy',
  /** A prefix: the path and the query of the request follow. */
  envoy: '/decide/envoy',
  /** Gives nginx the answer that a decision carries in `DECISION_FIELDS.answer`. */
  answer: '/answer',
} as const;

/** Fields of a decision request, and of the response to nginx. */
export const DECISION_FIELDS = {
  secret: 'X-Coursegate-Secret',
  /** The fingerprint of the configuration for which the gateway's file was generated. */
  config: 'X-Coursegate-Config',
  answer: 'X-Coursegate-Answer',
  /** Tells Envoy which fields of the request to remove. The name is Envoy's. */
  remove: 'X-Envoy-Auth-Headers-To-Remove',
} as const;
