import { createDemoOrganization } from '../scripts/local/demo-organization.ts';
import { prepareCalling } from './local/agent.ts';
import { accounts } from './local/carrier.ts';
import { copyRows } from './local/copy-rows.ts';
import { createJourneys, type Journeys } from './local/journeys.ts';
import { startRig, type Rig, type RigOptions, type WorkerName } from './local/start.ts';
import { Client, type Sample } from './load.ts';

export const connections = 16;

/** How many requests and rounds each case is measured with. */
export interface Pace {
  rounds: number;
  /** Requests of a round, by case. */
  events: number;
  matchedEvents: number;
  webhooks: number;
  pages: number;
  steadyWebhooks: number;
  steadyRounds: number;
  repeatRounds: number;
  wakingRuns: number;
  wakingRounds: number;
  /** How long runs sleep before they are woken. Local objects leave memory after 10 s without a call, as most that sleep have. */
  sleepBeforeWakingMs: number;
  sleepingRuns: number;
  sleepingSeconds: number;
  campaignRows: number;
  campaignRowsRounds: number;
  /** How long slots are watched in the middle of a campaign. */
  slotSeconds: number;
  /** Calls that are live when their callbacks come. */
  callbackCalls: number;
  callbackRounds: number;
  /** Talks whose turns are timed, of 20 turns each. */
  talks: number;
  /** Dialled rows whose cost is counted, of each kind. */
  costedRows: number;
  /** Test sessions whose turns are timed, of 20 turns each; those of a load test; and those whose cost is counted. */
  testTalks: number;
  testSessions: number;
  costedSessions: number;
  /** Contacts of books that are synced, and pushes that are timed. */
  syncedContacts: number;
  syncRounds: number;
  pushes: number;
  /** Questions of each list that are asked, at most. */
  questions: number;
  /** Questions by which the embedded index is compared with a plain scan, and how often a request with several is timed. */
  vectorQuestions: number;
  vectorRounds: number;
  /** Vectors that are searched beside other programs. */
  peerVectors: number;
  /** Chunks of the knowledge base that is searched, and searches of a round. */
  searchedChunks: number;
  searches: number;
  searchRounds: number;
  /** Documents of 100 pages that are timed. */
  pdfRounds: number;
  /** Of the large files whose memory is looked at. */
  largeFileMebibytes: number;
}

export const fullPace: Pace = {
  rounds: 9,
  events: 600,
  matchedEvents: 150,
  webhooks: 150,
  pages: 200,
  steadyWebhooks: 40,
  steadyRounds: 3,
  repeatRounds: 4,
  wakingRuns: 1000,
  wakingRounds: 2,
  sleepBeforeWakingMs: 11_000,
  sleepingRuns: 10_000,
  sleepingSeconds: 60,
  campaignRows: 10_000,
  campaignRowsRounds: 3,
  slotSeconds: 15,
  callbackCalls: 500,
  callbackRounds: 3,
  talks: 16,
  costedRows: 200,
  testTalks: 32,
  testSessions: 1000,
  costedSessions: 200,
  syncedContacts: 10_000,
  syncRounds: 3,
  pushes: 100,
  questions: 1000,
  vectorQuestions: 400,
  vectorRounds: 25,
  peerVectors: 20_000,
  searchedChunks: 5000,
  searches: 100,
  searchRounds: 3,
  pdfRounds: 5,
  largeFileMebibytes: 25,
};
export const quickPace: Pace = {
  rounds: 2,
  events: 200,
  matchedEvents: 50,
  webhooks: 50,
  pages: 60,
  steadyWebhooks: 12,
  steadyRounds: 1,
  repeatRounds: 1,
  wakingRuns: 100,
  wakingRounds: 1,
  sleepBeforeWakingMs: 0,
  sleepingRuns: 500,
  sleepingSeconds: 10,
  campaignRows: 2000,
  campaignRowsRounds: 1,
  slotSeconds: 3,
  callbackCalls: 100,
  callbackRounds: 1,
  talks: 4,
  costedRows: 20,
  testTalks: 8,
  testSessions: 200,
  costedSessions: 20,
  syncedContacts: 1000,
  syncRounds: 1,
  pushes: 20,
  questions: 40,
  vectorQuestions: 50,
  vectorRounds: 5,
  peerVectors: 1000,
  searchedChunks: 500,
  searches: 30,
  searchRounds: 1,
  pdfRounds: 1,
  largeFileMebibytes: 2,
};

export type Side = 'service' | 'floor';

/** A line of the table: the samples of both sides, taken in turn. */
export interface Result {
  name: string;
  /** What the floor does. */
  floorDoes: string;
  /** What the ratio compares: how many are done in a second, or how long one takes. */
  compares: 'rate' | 'time';
  /** How many runs a round wakes, of which the report then tells when the last has ended. */
  count?: number;
  service: Sample[];
  floor: Sample[];
}

/** The started Workers, an organization that is the same in each, and how to reach them. */
export interface Bench extends Journeys {
  rig: Rig;
  clients: Record<WorkerName, Client>;
  headers: Record<string, string>;
  /** Ids of the agents that call. */
  agents: Record<'service' | 'recording', number>;
  pace: Pace;
  progress(text: string): void;
}

export async function prepareBench(pace: Pace, progress: Bench['progress'], options: RigOptions = {}): Promise<Bench> {
  const rig = await startRig(options);
  const { origins, databases } = rig;
  const clients = Object.fromEntries(Object.entries(origins).map(([name, origin]) => [name, new Client(origin, connections)])) as Record<
    WorkerName,
    Client
  >;
  try {
    const key = await createDemoOrganization(`${origins.service.origin}/api/v1`, { hasSimulatedCarrier: false });
    const headers = { 'x-api-key': key };
    const journeys = await createJourneys(clients.service, headers, rig.receiver);
    if (!options.isAlone) {
      await copyRows(databases.service, databases.recording);
      await copyRows(databases.service, databases.floor);
    }
    const service = await prepareCalling(clients.service, headers, accounts.service);
    const recording = options.isAlone ? service : await prepareCalling(clients.recording, headers, accounts.recording);
    const agents = { service, recording };
    return { rig, clients, headers, agents, pace, progress, ...journeys };
  } catch (error) {
    await rig.stop();
    throw error;
  }
}

export async function endBench({ rig, clients }: Bench): Promise<void> {
  for (const client of Object.values(clients)) client.close();
  await rig.stop();
}

/**
 * Measures every side in each round, one after the other. The first round only warms up. The side that begins changes with the round, so that other
 * load on the machine affects all sides alike.
 */
export async function measureAlternately<Name extends string, Measured = Sample>(
  rounds: number,
  sides: readonly Name[],
  measure: (side: Name, round: number) => Promise<Measured>,
): Promise<Record<Name, Measured[]>> {
  const samples = Object.fromEntries(sides.map((side) => [side, [] as Measured[]])) as Record<Name, Measured[]>;
  for (let round = 0; round <= rounds; round++)
    for (let turn = 0; turn < sides.length; turn++) {
      const side = sides[(round + turn) % sides.length]!;
      const sample = await measure(side, round);
      if (round > 0) samples[side].push(sample);
    }
  return samples;
}

export const bothSides = ['service', 'floor'] as const;
