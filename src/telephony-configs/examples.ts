import type { ExamplesByOperation } from '../http/operation-examples.ts';

/** Example requests that work in the order of the OpenAPI document. Telephony configuration 1 exists from the start. */
export const telephonyConfigExamples: ExamplesByOperation = {
  'telephonyConfigs.create': {
    body: {
      name: 'Second line',
      provider: 'twilio',
      twilio: { account_sid: 'AC0123456789abcdef0123456789abcdef', auth_token: '0123456789abcdef0123456789abcdef' },
      from_numbers: ['+1 500 555 0007'],
      calls_per_second: 1,
      machine_detection: true,
    },
  },
  'telephonyConfigs.list': {},
  'telephonyConfigs.get': { path: { config_id: 2 } },
  'telephonyConfigs.update': { path: { config_id: 2 }, body: { calls_per_second: 5 } },
  'telephonyConfigs.delete': { path: { config_id: 2 } },
};
