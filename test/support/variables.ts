/** Settings of the Worker under test; the secrets are for tests alone. */
export const testVariables = {
  DEPLOYMENT_MODE: 'local',
  SIGNUP: 'open',
  LOG_LEVEL: 'error',
  ENCRYPTION_KEY: btoa('test-encryption-key-of-32-bytes!'),
  SIGNING_KEY: btoa('test-signing-key-of-32-bytes....'),
  RATE_LIMIT_REQUESTS: '1000000',
  SIGNUPS_PER_HOUR: '1000000',
  ALLOWED_PRIVATE_ORIGINS: 'http://127.0.0.1:8788',
  // The carrier is asked soon about calls whose callbacks do not come.
  CALL_SILENCE_SECONDS: '2',
  CALL_ASK_WITHIN_SECONDS: '2',
  CALL_ANSWER_WITHIN_SECONDS: '2',
  CALL_UNKNOWN_AFTER_SECONDS: '1',
  CALL_LOOK_AGAIN_SECONDS: '1',
  CALL_VERDICT_SECONDS: '1',
  CALL_RESEND_SECONDS: '1',
  OPENAI_API_KEY: 'test-key-of-the-language-model',
  OPENAI_BASE_URL: 'https://model.example.com/v1',
  COMPOSIO_API_KEY: 'test-key-of-the-broker',
  COMPOSIO_AUTH_CONFIGS: 'chatapp=ac_slack,tracker=ac_jira,calendar=ac_googlecalendar,books=ac_zohobooks,sheet=ac_googlesheets',
};
