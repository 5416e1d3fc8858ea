import { planLimits } from '../plan.ts';
import type { ExamplesByOperation } from '../http/operation-examples.ts';

const deletion = {
  id: '6c1f3d0e-8a54-4f0b-9d0a-52c1f7e0b7aa',
  status: 'deleting',
  removed: 0,
  requested_at: '2026-11-28T19:05:16.972Z',
  finished_at: null,
};

const invitationToken = 'vai_0ZWdJQmR1tZxmSgV5bHyQkC3nLpTf8oEaUw2iXrBvKM';

const signInToken =
  'val_rWLfygZUOK83a_N5.1795926116972.0b1e93a5f0d24b7c8e9f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f.9f2c4e8a1b3d5f70819293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8';

const member = (id: number, role: string) => ({
  user_id: id,
  email: id === 1 ? 'sam@acme.example' : 'kim@acme.example',
  name: id === 1 ? 'Sam Rivera' : 'Kim Alvarez',
  role,
  joined_at: '2026-11-28T19:05:16.972Z',
});

const organization = {
  id: 1,
  name: 'Acme',
  default_country: 'US',
  timezone: 'America/New_York',
  min_hours_between_calls: 0,
  plan: Object.fromEntries(Object.values(planLimits).map(({ name }) => [name, 100])),
  created_at: '2026-11-28T19:05:16.972Z',
};

const challenge = 'cXJ3TGZ5Z1pVOEtwM2FfTi4xNzk1OTIyMTE2OTcyLjlmMmM0ZThhMWIzZDVmNzA';
const credentialId = 'q1fXvV4mT0m2n8kJ7bLw5A';
const clientDataJSON = 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiLi4uIn0';
const creationOptions = {
  challenge,
  rp: { name: 'Voice Agent Automation Service', id: 'calls.acme.example' },
  user: { id: 'dXNlcjox', name: 'sam@acme.example', displayName: 'Sam Rivera' },
  pubKeyCredParams: [{ alg: -7, type: 'public-key' }],
  timeout: 300_000,
  attestation: 'none',
  excludeCredentials: [],
  authenticatorSelection: { residentKey: 'required', userVerification: 'required', requireResidentKey: true },
};
const requestOptions = { challenge, rpId: 'calls.acme.example', timeout: 300_000, userVerification: 'required' };
const credential = { id: credentialId, rawId: credentialId, type: 'public-key', clientExtensionResults: {} };
const createdCredential = { ...credential, response: { clientDataJSON, attestationObject: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVg' } };
const signedCredential = {
  ...credential,
  response: { clientDataJSON, authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ', signature: 'MEUCIQDf' },
};

/** Requests that work in the order of the document. */
export const accountExamples: ExamplesByOperation = {
  'health.get': {},
  'auth.signUp': {
    body: { email: 'sam@acme.example', password: 'correct horse battery', name: 'Sam Rivera', organization_name: 'Acme' },
  },
  'auth.logIn': { body: { email: 'sam@acme.example', password: 'correct horse battery' } },
  'auth.createSignInLink': {},
  'auth.signInByLink': { body: { token: signInToken } },
  'auth.me': {},
  'auth.createOrganization': { body: { name: 'Acme Europe' } },
  'auth.selectOrganization': { body: { organization_id: 2 } },
  'auth.logOut': {},
  'auth.changePassword': { body: { current_password: 'correct horse battery', new_password: 'lanterns over a quiet harbour' } },
  'auth.deleteAccount': { body: { password: 'lanterns over a quiet harbour' }, answer: { status: 'deleted' } },
  'auth.logOutEverywhere': {},
  'auth.forgotPassword': { body: { email: 'sam@acme.example' }, answer: { status: 'requested' } },
  'auth.listSessions': {},
  'auth.endSession': { path: { session_id: '9f2c4e8a1b3d5f70' }, answer: { status: 'logged_out' } },
  'passkeys.start': { answer: creationOptions },
  'passkeys.add': {
    body: { password: 'lanterns over a quiet harbour', name: 'Laptop', credential: createdCredential },
    answer: { id: 1, name: 'Laptop', is_backed_up: true, last_used_at: null, created_at: '2026-11-28T19:05:16.972Z' },
  },
  'passkeys.list': {
    answer: {
      passkeys: [{ id: 1, name: 'Laptop', is_backed_up: true, last_used_at: null, created_at: '2026-11-28T19:05:16.972Z' }],
      total: 1,
    },
  },
  'passkeys.delete': { path: { passkey_id: 1 }, answer: { status: 'deleted' } },
  'passkeys.startLogIn': { answer: requestOptions },
  'passkeys.logIn': {
    body: { credential: signedCredential },
    answer: {
      token: 'vas_3kQ9vY1nW7cR5tB2xZ8mL4pF6sD0gHjKqEwUaTyIoVM',
      user: { id: 1, email: 'sam@acme.example', name: 'Sam Rivera', created_at: '2026-11-28T19:05:16.972Z' },
      organization,
    },
  },
  'organization.get': {},
  'organization.update': { body: { name: 'Acme', default_country: 'US', timezone: 'America/New_York' } },
  'organization.delete': { query: { confirm_name: 'Acme' }, answer: deletion },
  'organization.getDeletion': {
    path: { deletion_id: deletion.id },
    answer: { ...deletion, status: 'deleted', removed: 18_402, finished_at: '2026-11-28T19:07:24.113Z' },
  },
  'members.list': {},
  'members.changeRole': { path: { user_id: 1 }, body: { role: 'owner' } },
  'members.endSessions': { path: { user_id: 1 }, answer: { ended: 2 } },
  'members.transferOwnership': { body: { user_id: 2 }, answer: { members: [member(1, 'admin'), member(2, 'owner')], total: 2 } },
  'members.leave': { answer: { status: 'deleted' } },
  'invitations.create': { body: { role: 'operator', email: 'kim@acme.example' } },
  'invitations.list': {},
  'invitations.revoke': { path: { invitation_id: 2 }, answer: { status: 'deleted' } },
  'invitations.preview': { body: { token: invitationToken } },
  'invitations.accept': { body: { token: invitationToken, password: 'a quiet harbour at dusk', name: 'Kim Alvarez' } },
  'invitations.join': { body: { token: invitationToken }, answer: organization },
  'auditLog.list': {},
  'auditLog.export': { query: { format: 'csv', columns: 'at,user_email,action,record_type,record_id' } },
  'members.remove': { path: { user_id: 1 }, answer: { status: 'deleted' } },
  'members.offerReset': { path: { user_id: 1 } },
  'members.resetPassword': {
    body: { token: 'var_0ZWdJQmR1tZxmSgV5bHyQkC3nLpTf8oEaUw2iXrBvKM', new_password: 'lanterns over a quiet harbour' },
  },
  'apiKeys.create': { body: { name: 'Checkout', scopes: ['write'] } },
  'apiKeys.list': {},
  'apiKeys.revoke': { path: { id: 2 } },
  'apiKeys.reactivate': { path: { id: 2 } },
};
