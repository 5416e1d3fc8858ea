import type { Bench } from '../bench.ts';
import type { Unit } from './account.ts';
import { callUnits } from './units/calls.ts';
import { chatUnits } from './units/chats.ts';
import { contactUnits } from './units/contacts.ts';
import { knowledgeUnits } from './units/knowledge.ts';
import { messageUnits } from './units/messages.ts';
import { runUnits } from './units/runs.ts';
import { testUnits } from './units/tests.ts';
import { tickUnits } from './units/ticks.ts';

/** All units of work, in the order in which they are counted. Each area's find what they need. */
export async function prepareUnits(bench: Bench): Promise<Unit[]> {
  const units: Unit[] = [];
  const areas = [tickUnits, contactUnits, runUnits, messageUnits, knowledgeUnits, chatUnits, testUnits, callUnits];
  for (const unitsOf of areas) units.push(...(await unitsOf(bench)));
  return units;
}
