import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { newPhone } from '../support/organization.ts';

export const accountSid = `AC${'0'.repeat(31)}1`;
export const authToken = 'canary-auth-token-of-the-carrier';
export const telnyxKey = 'KEY-canary-api-key-of-the-carrier';
/** 32 bytes. */
export const publicKey = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

/** A configuration of a number of its own. */
export const twilioConfig = (more: Record<string, unknown> = {}) => ({
  name: 'Main line',
  provider: 'twilio',
  twilio: { account_sid: accountSid, auth_token: authToken },
  from_numbers: [newPhone()],
  ...more,
});

export const telnyxConfig = (more: Record<string, unknown> = {}) => ({
  name: 'Second carrier',
  provider: 'telnyx',
  telnyx: { api_key: telnyxKey, connection_id: '1494404757140276705', public_key: publicKey },
  from_numbers: [newPhone()],
  ...more,
});

/** An agent as far as a configuration knows one. */
export async function newAgentId(organizationId: number): Promise<number> {
  const agent = await env.DB.prepare(
    `INSERT INTO voice_agent (organization_id, name, status, current_definition_id, template_context_variables, call_disposition_codes,
       workflow_configurations, created_at, updated_at) VALUES (?, 'Agent', 'active', 0, '{}', '{}', '{}', 0, 0) RETURNING id`,
  )
    .bind(organizationId)
    .first<{ id: number }>();
  return agent!.id;
}

/** Replaces the organizations' call slots and records the notified ones; `failure`: each call throws it. */
export function notifiedSlots(failure?: Error): string[] {
  const notified: string[] = [];
  vi.spyOn(env.CALL_SLOTS, 'getByName').mockImplementation(
    (name) =>
      ({
        closeConfig: async () => 0,
        dialingPolicyChanged: async () => {
          notified.push(name);
          if (failure) throw failure;
        },
      }) as never,
  );
  return notified;
}
