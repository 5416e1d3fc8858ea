import { listOperations, type Document, type Response } from './document-types.ts';

const beingChanged = 'Others keep changing it at the same time; try again.';
const phoneOrId = 'Another contact has the phone or the external_id; the detail names it.';
const contactLimit = 'The scope of the key does not cover the call, or `contact_limit_reached`: the plan allows no more contacts.';
const wrongState = 'The campaign is in a state from which this cannot be done; the detail names it and those that would do.';
const signature = 'The signature is missing or wrong, or the address has expired.';
const provider = 'The connected tool could not be reached or refused; the detail has its own words.';
const grantTooSmall =
  'The scope of the key does not cover the call, or `insufficient_permissions`: the connected account grants too little; disconnect, and connect it again.';
const notConnected = 'No such integration, or `not_connected`: the organization has no active one of this provider.';

/** The cases of a status that its general description does not cover, by operationId and status. */
const cases: Record<string, Record<number, string>> = {
  'auth.signUp': {
    403: 'Sign-up is closed on this service.',
    409: '`database_full`: the service takes no new organizations for now; sign up without one, or ask the operator.',
    429: 'Too many sign-ups in an hour from the network address, or with the e-mail address; see Retry-After.',
  },
  'auth.logIn': {
    401: 'E-mail address and password do not belong together, or nobody has the address.',
    429: 'Too many failed log-ins with the e-mail address or from the network address; see Retry-After. Devices that have logged in before wait only for their own failures.',
  },
  'auth.changePassword': { 429: 'Too many wrong passwords; see Retry-After.' },
  'passkeys.start': { 409: 'The service was asked by an IP address, which has no passkeys (see `PUBLIC_URL`), or the person has 20.' },
  'passkeys.add': {
    409: 'The passkey is known already, the person has 20, or the service was asked by an IP address.',
    429: 'Too many wrong passwords; see Retry-After.',
  },
  'passkeys.startLogIn': { 409: 'The service was asked by an IP address, which has no passkeys (see `PUBLIC_URL`).' },
  'passkeys.logIn': {
    401: 'The passkey is unknown, the signature is wrong, or the challenge is over or was answered before.',
    409: 'The service was asked by an IP address, which has no passkeys (see `PUBLIC_URL`).',
    429: 'More than 10 log-ins in 10 seconds from the network address; see Retry-After.',
  },
  'auth.createSignInLink': { 403: 'The call came with the cookie of a browser; send the token of a session as a bearer token.' },
  'auth.signInByLink': {
    401: 'The link is unknown, used or older than an hour, or the session that made it has ended.',
    429: 'More than 10 log-ins in 10 seconds from the network address; see Retry-After.',
  },
  'members.resetPassword': { 401: 'The token is unknown, used or older than a day.' },
  'auth.deleteAccount': {
    409: 'The person is the last member of an organization, which the detail names.',
    429: 'Too many wrong passwords; see Retry-After.',
  },
  'members.remove': { 404: 'The organization has no such member.', 409: 'The person is the last member.' },
  'organization.getDeletion': { 404: 'There is no such deletion, or it was done long ago.' },
  'members.offerReset': {
    404: 'The organization has no such member.',
    409: 'The person is a member of other organizations, too.',
  },
  'auth.createOrganization': {
    409: 'The caller is a member of as many organizations as a user may be, or `database_full`: the service takes no new organizations for now.',
  },
  'auth.selectOrganization': { 404: 'The caller is no member of such an organization.' },
  'contacts.create': { 403: contactLimit, 409: phoneOrId },
  'contacts.update': { 409: phoneOrId },
  'contacts.upsert': { 403: contactLimit, 409: '`identity_conflict`: the phone is that of one contact, the external_id that of another.' },
  'contactLists.create': { 409: 'A list of this name is there.' },
  'contactLists.update': { 409: 'Another list has this name.' },
  'journeys.update': { 409: `The status cannot become the one asked for; the detail names those that it can. Or: ${beingChanged}` },
  'journeys.execute': { 409: 'The journey is not active, or one of its rules keeps the run out, such as `max_active_runs`.' },
  'triggers.create': { 409: 'The journey is archived.' },
  'triggers.update': { 409: `The trigger is archived. Or: ${beingChanged}` },
  'triggers.fire': {
    400: 'The trigger is not of type `manual`, or no organization is selected.',
    404: 'No such journey or trigger, or one of the contacts is not there.',
    409: 'The trigger or its journey is not active, or a rule of the journey keeps all contacts out.',
  },
  'triggers.retryDelivery': {
    404: 'No such journey, trigger or delivery.',
    409: 'The delivery is handled already, or its trigger or journey is not active.',
  },
  'operations.retryStuck': {
    404: 'There is no such thing.',
    409: 'It no longer stands still, or only a person can help: the detail says how.',
    502: provider,
  },
  'events.retry': { 409: 'The event is handled already.' },
  'webhooks.receive': {
    401: 'The signature or the credentials are not those of the trigger.',
    404: 'No trigger has this uuid, or it is archived.',
    409: 'The trigger or its journey is not active.',
  },
  'webhooks.answerChallenge': { 403: '`verify_token` is not that of the trigger.', 404: 'No trigger has this uuid, or it is archived.' },
  'journeyRuns.stop': { 409: 'The run has ended.' },
  'journeyRuns.retry': { 409: 'The run has not failed, its journey is not active, or the version asked for cannot go on from its node.' },
  'journeyRuns.previewMove': { 404: 'No such journey or version.', 409: 'The version cannot run, or the journey is archived.' },
  'journeyRuns.move': {
    404: 'No such journey or version.',
    409: 'The version cannot run, the journey is archived, or its runs are moving to another version.',
  },
  'languageModels.create': { 409: 'There are as many language models as there can be.' },
  'languageModels.update': { 409: 'Another request changed or deleted it meanwhile.' },
  'telephonyConfigs.create': { 409: 'One of the numbers is in another configuration, or there are as many as there can be.' },
  'telephonyConfigs.update': { 409: `One of the numbers is in another configuration, or it would leave no default. Or: ${beingChanged}` },
  'agents.update': {
    409: `With \`require_verified\`: the agent does not pass its required tests, and nothing is changed. Or: ${beingChanged}`,
  },
  'agents.restoreVersion': { 409: beingChanged },
  'agentRuns.create': {
    409: 'The agent is archived, there is no telephony configuration (`telephony_not_configured`), the number must not be called (`suppressed`), or no numbering plan knows it (`number_unassignable`).',
  },
  'agentRuns.sendMessage': { 409: 'The run is a call, the chat has ended, or it has gone on since `expected_revision`.' },
  'agentRuns.end': { 409: 'The run is a call, or the chat has ended.' },
  'agentRuns.downloadArtifact': { 403: signature },
  'campaigns.upload': { 403: signature, 413: 'The file has more than 50 MiB.' },
  'campaigns.create': {
    400: '`max_concurrency` is above what the plan allows, or no organization is selected.',
    404: 'No such agent, upload, list or integration.',
    502: provider,
  },
  'campaigns.update': { 409: 'The campaign is neither a draft nor paused; pause it first.' },
  'campaigns.start': { 409: 'The campaign is no draft, or nothing could be called: the detail says what is missing.' },
  'campaigns.pause': { 409: wrongState },
  'campaigns.resume': { 409: wrongState },
  'campaigns.cancel': { 409: wrongState },
  'campaigns.redial': { 409: 'The campaign still runs, or none of its rows ended with one of the outcomes.' },
  'knowledgeBase.upload': { 403: signature, 409: 'The processing of the document has begun.', 413: 'The file has more than 25 MiB.' },
  'knowledgeBase.processDocument': { 409: 'The file has not been sent to `upload_url` yet.' },
  'knowledgeBase.search': { 502: 'The embedding model could not be reached or refused; `mode` `keyword` does without it.' },
  'knowledgeBase.reprocessDocument': { 409: 'The document is still pending or processing.' },
  'testSessions.start': { 409: 'The session is not pending, or it belongs to a load test, which starts it.' },
  'testSessions.stop': { 409: 'The session does not run.' },
  'loadTests.stop': { 409: 'The load test does not run.' },
  'integrations.connect': {
    400: 'The provider is unknown, or the plan allows no further integration.',
    502: 'The connection broker could not be reached or refused.',
  },
  'integrations.finalize': {
    400: 'The consent was refused or has expired.',
    404: 'No such connection of this organization.',
    409: 'Nobody has consented at `redirect_url` yet.',
    502: 'The connection broker could not be reached or refused.',
  },
  'integrations.getStatus': { 404: '`not_connected`: the organization has no active integration of this provider.' },
  'integrations.listChannels': { 403: grantTooSmall, 404: notConnected, 502: provider },
  'integrations.listProjects': { 403: grantTooSmall, 404: notConnected, 502: provider },
  'integrations.listIssueTypes': { 403: grantTooSmall, 404: notConnected, 502: provider },
  'integrations.update': { 403: grantTooSmall, 502: provider },
  'integrations.listBooksOrganizations': { 403: grantTooSmall, 502: provider },
  'integrations.selectBooksOrganization': { 403: grantTooSmall, 502: provider },
  'integrations.searchSheets': { 403: grantTooSmall, 502: provider },
  'integrations.previewSheet': { 403: grantTooSmall, 502: provider },
  'integrations.selectSheet': { 403: grantTooSmall, 502: provider },
  'integrations.getFieldMapping': {
    400: 'The integration is no data source, or no organization is selected.',
    403: grantTooSmall,
    502: provider,
  },
  'integrations.replaceFieldMapping': {
    400: 'The integration is no data source, or an entry of the mapping is wrong: the detail names it.',
    403: grantTooSmall,
    409: 'What the columns are of has not been chosen yet: a sheet, or an organization of books.',
    502: provider,
  },
  'integrations.resync': { 409: 'What is to be read has not been chosen yet: a sheet, or an organization of books.' },
  'integrations.pushContact': {
    403: grantTooSmall,
    409: 'No organization of books is selected, or books has another contact of this name.',
    502: provider,
  },
  'messaging.updateConfig': { 400: 'The provider is unknown, or no organization is selected.', 409: beingChanged },
  'messaging.listTemplates': { 409: 'No provider is selected.', 502: provider },
};

/** Adds the cases to the document. Throws an Error when the operation or status of a case does not exist. */
export function describeErrors(document: Document): void {
  const operations = new Map(listOperations(document).map((operation) => [operation.operationId, operation]));
  const common = document.components['responses'] as Record<string, Response>;
  for (const [id, byStatus] of Object.entries(cases))
    for (const [status, description] of Object.entries(byStatus)) {
      const responses = operations.get(id)?.responses;
      const response = responses?.[status];
      if (!responses || !response) throw new Error(`The cases of errors name ${id} ${status}, which is not there`);
      const { $ref } = response;
      responses[status] = { ...($ref ? common[$ref.split('/').at(-1)!] : response), description };
    }
}
