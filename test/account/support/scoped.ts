/** A contract with guarded fields, and a mapping of it onto the test school. */
export const SCOPED_CONTRACT = `
directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION | OBJECT
"What there is."
type Query { "The member." viewer: Viewer! }
"The member."
type Viewer {
  "Their id."
  id: ID!
  "Their address."
  email: String @requiresScopes(scopes: [["profile", "email"], ["account:all"]])
  "Their receipts."
  receipts: Receipts @requiresScopes(scopes: [["orders:read"]])
}
"Receipts."
type Receipts @requiresScopes(scopes: [["receipts:read"]]) {
  "How many."
  count: Int
}
`;

export const SCOPED_MAPPING = {
  file: 'scoped.graphql',
  text: `
extend schema @source(name: "school")
extend type Viewer {
  email: String @connect(source: "school", http: { GET: "/api/v1/members/{$context.sub}" }, selection: "$.data.email_address")
  receipts: Receipts @connect(source: "school", http: { GET: "/api/v1/members/{$context.sub}" }, selection: "count: $(7)")
}`,
};

export const SCOPES = ['account:read', 'profile', 'email', 'account:all', 'orders:read', 'receipts:read'];
