import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import type { ContactAttempt } from '../../src/contact-policy/reserve-contacts.ts';
import { reserveContacts } from '../../src/contact-policy/reserve-contacts.ts';
import { releaseMessageStatement } from '../../src/contact-policy/release-contacts.ts';
import type { Context } from '../../src/context.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { allZones, brokenRules, randomPolicy, type RealContact } from './random-plans.ts';

/** As `CALL_ASK_WITHIN_SECONDS` of the tests. */
const toleranceMs = 2000;

/** What becomes of an attempt that is allowed: it happens after a while, its worker dies before or after, or the carrier refuses it. */
const attempt = fc.record({
  channel: fc.constantFrom('call' as const, 'message' as const),
  source: fc.constantFrom('single' as const, 'journey' as const, 'campaign' as const),
  fate: fc.constantFrom(
    'happens' as const,
    'happens' as const,
    'happens' as const,
    'dies' as const,
    'refused' as const,
    'asked again' as const,
  ),
  delayMs: fc.integer({ min: 0, max: toleranceMs }),
});

/** Attempts that are decided at the same moment, after some time. */
const round = fc.record({
  afterMinutes: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 5, max: 600 }), fc.integer({ min: 600, max: 12_000 })),
  afterMs: fc.integer({ min: 0, max: 59_999 }),
  attempts: fc.array(attempt, { minLength: 1, maxLength: 5 }),
});

/** A message is stored once it is claimed; without its row the reservation would count as abandoned. */
const storeMessage = (organizationId: number, key: string, phone: string, at: number) =>
  env.DB.prepare(
    `INSERT INTO message (organization_id, send_key, provider, kind, recipient, status, status_rank, history, created_at, updated_at)
     VALUES (?1, ?2, 'provider_b', 'text', ?3, 'accepted', 1, '[]', ?4, ?4)`,
  )
    .bind(organizationId, key, phone, at)
    .run();

test('no person is contacted beyond a rule, by any mix of campaigns, journeys and single contacts, deaths included', async () => {
  const organization = await newOrganization({ timezone: 'UTC' });
  const base = (await backgroundContext(env, organization.id, () => {}))!;
  let serial = 0;
  let allowed = 0;
  await fc.assert(
    fc.asyncProperty(
      randomPolicy,
      fc.constantFrom(...allZones),
      fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 10, 1) }),
      fc.array(round, { minLength: 1, maxLength: 12 }),
      async (policy, zone, start, rounds) => {
        const phone = newPhone();
        await organization.client.post('/contacts', { phone, custom_fields: { timezone: zone } });
        const contacts: RealContact[] = [];
        let now = start;
        for (const { afterMinutes, afterMs, attempts } of rounds) {
          now += afterMinutes * 60_000 + afterMs;
          await Promise.all(
            attempts.map(async ({ channel, source, fate, delayMs }, index) => {
              const context: Context = { ...base, clock: () => now };
              const wanted: ContactAttempt = { key: `law:${++serial}`, phone, channel, source, sourceId: index };
              const decide = async () => (await reserveContacts(context, policy, [wanted])).get(wanted.key)!;
              const verdict = await decide();
              // A repeat after a crash decides anew under the same key, and counts once.
              const latest = fate === 'asked again' ? await decide() : verdict;
              if (latest.kind !== 'allowed') return;
              allowed++;
              const at = now + delayMs;
              const isInTime = latest.until === null || at < latest.until;
              if (fate === 'refused' || !isInTime)
                await base.database.all(releaseMessageStatement(context, { key: wanted.key, phone }), 'idempotent');
              else if (fate !== 'dies') {
                contacts.push({ channel, at });
                if (channel === 'message') await storeMessage(organization.id, wanted.key, phone, at);
              }
            }),
          );
        }
        expect(brokenRules(policy, [zone], contacts)).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
  // The rules let something happen at all.
  expect(allowed).toBeGreaterThan(60);
}, 180_000);

test('a person who may be in several zones is contacted beyond no rule in any of them', async () => {
  const organization = await newOrganization();
  const base = (await backgroundContext(env, organization.id, () => {}))!;
  let serial = 0;
  await fc.assert(
    fc.asyncProperty(
      randomPolicy,
      fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 10, 1) }),
      fc.array(fc.integer({ min: 10, max: 900 }), { minLength: 5, maxLength: 25 }),
      async (policy, start, minutes) => {
        // A number of the United States, which have the zones between New York and Honolulu.
        const phone = newPhone();
        const contacts: RealContact[] = [];
        let now = start;
        for (const after of minutes) {
          now += after * 60_000;
          const key = `zones:${++serial}`;
          const context: Context = { ...base, clock: () => now };
          const wanted: ContactAttempt = { key, phone, channel: 'call', source: 'campaign', sourceId: 1 };
          if ((await reserveContacts(context, policy, [wanted])).get(key)!.kind === 'allowed') contacts.push({ channel: 'call', at: now });
        }
        expect(brokenRules(policy, ['America/New_York', 'America/Los_Angeles', 'Pacific/Honolulu'], contacts)).toEqual([]);
      },
    ),
    { numRuns: 25 },
  );
}, 180_000);
