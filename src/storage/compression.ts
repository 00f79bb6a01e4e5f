import { deflateRawSync, inflateRawSync } from 'node:zlib';

/**
 * What the payloads of a connected app have in common: names, and values that most of them share. Compressed with it, an
 * app takes half the space. Never edit it: what was written with it could not be read. The most common is at the end.
 */
const DICTIONARY = Buffer.from(
  [
    'appearance:read appearance:write analytics:read comments:read coupons:read curriculum:write digital_products:write ',
    'events:write forms:read lecturers:write membership_plans:write orders:read pages:write posts:write school:write ',
    'storage:write students:write subscriptions:write members:write courses:write ","post_logout_redirect_uris":[',
    '"http://127.0.0.1/","http://localhost/callback"],"client_secret":"{"application_type":"web"native","grant_types":[',
    '"authorization_code","refresh_token"],"require_auth_time":false,"response_types":["code"],"subject_type":"public",',
    '"token_endpoint_auth_method":"client_secret_post"none","require_pushed_authorization_requests":false,',
    '"dpop_bound_access_tokens":false,"client_id_issued_at":1"client_id":"","client_name":"","redirect_uris":["https://',
    'com/oauth/callback"],"scope":"openid profile email offline_access account:read courses:read","kind":',
    '"RegistrationAccessToken","jti":""openid":{"scope":""resources":{"https://","kind":"Grant","jti":""amr":["pwd"],',
    '"jkt":"{"sub":"","email":"name":"{"question":"[null,\\"https://\\",null]","body":{"access_token":"",',
    '"expires_in":600,"id_token":"eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6I","refresh_token":"r1_","token_type":',
    '"Bearer"},"by":"","answeredAt":17{"iat":179"exp":18"accountId":"","authTime":1"grantId":"","gty":',
    '"authorization_code refresh_token","resource":"https://","rotations":"scope":"openid profile email account:read ',
    'courses:read","clientId":"","hash":"","answer":"',
  ].join(''),
);

/** A small window: the texts are small, and a state of the usual size takes longer to set up than to use. */
const OPTIONS = { windowBits: 12, memLevel: 5, dictionary: DICTIONARY };

export function compressed(text: string): Uint8Array {
  return deflateRawSync(text, OPTIONS);
}

/** Throws if these bytes were not compressed here. */
export function decompressed(bytes: Uint8Array): string {
  return inflateRawSync(bytes, OPTIONS).toString('utf8');
}
