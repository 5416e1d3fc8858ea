import type { ExamplesByOperation } from '../http/operation-examples.ts';

/** Requests that work in the order of the document. */
export const messagingExamples: ExamplesByOperation = {
  'messaging.updateConfig': {
    body: {
      messaging_app: {
        provider: 'provider_b',
        provider_b: { phone_number_id: '106540352242922', access_token: 'EAAGexample0token7f3a', waba_id: '102290129340398' },
      },
    },
  },
  'messaging.getConfig': {},
  'messaging.listTemplates': {},
  'messaging.sendTest': {
    body: {
      to: '(415) 555-0123',
      kind: 'template',
      template_name: 'order_update',
      language: 'en',
      template_params: { customer_name: 'Ada', order_number: '1001' },
    },
  },
  'messaging.listMessages': { query: { contact_id: 1 } },
};
