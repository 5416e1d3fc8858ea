import { measureAccount, type Account } from './account/account.ts';
import type { Bench, Result } from './bench.ts';
import { measureCallbacks } from './cases/callbacks.ts';
import { measureCampaignRows } from './cases/campaign-rows.ts';
import { measureBulkUpserts, measureContactPages } from './cases/contacts.ts';
import { measureEvents } from './cases/events.ts';
import { measureHealth } from './cases/health.ts';
import { measurePdf } from './cases/pdf.ts';
import { measurePeers } from './cases/peers.ts';
import { measureRetrieval } from './cases/retrieval-quality.ts';
import { measureRowCosts } from './cases/row-costs.ts';
import { measureSearch } from './cases/search.ts';
import { measureSleeping, type Sleep } from './cases/sleeping.ts';
import { measureSlotUse } from './cases/slot-use.ts';
import { measureSync } from './cases/sync.ts';
import { measureTestSessions } from './cases/test-sessions.ts';
import { measureTurns } from './cases/turns.ts';
import { measureTypicalJourney } from './cases/typical-journey.ts';
import { measureVectorIndex } from './cases/vector-index.ts';
import { measureWaking } from './cases/waking.ts';
import { measureWebhooks } from './cases/webhooks.ts';
import type { AcceptedCost } from './record.ts';
import type { Retrieval } from './retrieval.ts';
import type { RowUse } from './row-cost.ts';
import type { RunUse } from './run-cost.ts';
import type { TargetedFigure } from './targets.ts';

/** The results of the chosen cases. */
export interface Findings {
  results: Result[];
  costs: AcceptedCost[];
  targeted: TargetedFigure[];
  retrievals: Retrieval[];
  /** Of the knowledge base. */
  knowledge: TargetedFigure[];
  /** Of conversation tests. */
  tests: TargetedFigure[];
  /** Of integrations. */
  syncs: TargetedFigure[];
  /** Beside other programs. */
  peers: TargetedFigure[];
  rowUses: RowUse[];
  /** Of a run of the typical journey; null when that was not chosen. */
  use: RunUse | null;
  sleeping: Sleep | null;
  /** Of every unit of work; null when that was not chosen. */
  account: Account | null;
}

type Measure = (bench: Bench) => Promise<Partial<Findings>>;

/** In the order in which they are measured. */
const cases: Record<string, Measure> = {
  contacts: async (bench) => ({ results: [...(await measureBulkUpserts(bench)), ...(await measureContactPages(bench))] }),
  events: measureEvents,
  webhooks: measureWebhooks,
  journey: measureTypicalJourney,
  health: async (bench) => ({ results: await measureHealth(bench) }),
  waking: measureWaking,
  'campaign-rows': async (bench) => ({ targeted: await measureCampaignRows(bench) }),
  'slot-use': async (bench) => ({ targeted: await measureSlotUse(bench) }),
  callbacks: async (bench) => ({ targeted: await measureCallbacks(bench) }),
  turns: async (bench) => ({ targeted: await measureTurns(bench) }),
  'row-cost': async (bench) => ({ rowUses: await measureRowCosts(bench) }),
  'retrieval-quality': async (bench) => ({ retrievals: await measureRetrieval(bench) }),
  'vector-index': async (bench) => ({ knowledge: await measureVectorIndex(bench) }),
  search: async (bench) => ({ knowledge: await measureSearch(bench) }),
  pdf: async (bench) => ({ knowledge: await measurePdf(bench) }),
  'test-sessions': async (bench) => ({ tests: await measureTestSessions(bench) }),
  sync: async (bench) => ({ syncs: await measureSync(bench) }),
  sleeping: async (bench) => ({ sleeping: await measureSleeping(bench) }),
  peers: async (bench) => ({ peers: await measurePeers(bench) }),
  costs: async (bench) => ({ account: await measureAccount(bench.progress) }),
};

export const caseNames = Object.keys(cases);

/** Without those that install other programs, which have to be asked for. */
export const ownCaseNames = caseNames.filter((name) => name !== 'peers');

/** These are about the contacts that the first case has put in. */
const aboutContacts = new Set(['events', 'webhooks', 'journey', 'waking', 'sleeping', 'peers']);

/** What was found in each case, and what is called with a case that has ended. */
interface Progress {
  known: Record<string, Partial<Findings>>;
  keep(name: string, found: Partial<Findings>): void;
}

/** Measures the cases of these names, and what they need before. Those that are `known` already are not measured again. */
export async function measureCases(bench: Bench, names: string[], { known, keep }: Progress): Promise<Findings> {
  const missing = names.filter((name) => !(name in known));
  const needed = new Set(missing.some((name) => aboutContacts.has(name)) ? ['contacts', ...missing] : missing);
  const found: Partial<Findings>[] = [];
  for (const [name, measure] of Object.entries(cases)) {
    const measured = needed.has(name) ? await measure(bench) : undefined;
    const kept = known[name] ?? measured;
    if (kept) found.push(kept);
    if (measured && !(name in known)) keep(name, measured);
  }
  return mergeFindings(found);
}

function mergeFindings(found: Partial<Findings>[]): Findings {
  const all = <Name extends keyof Findings>(name: Name) => found.map((one) => one[name]);
  return {
    results: all('results').flatMap((one) => one ?? []),
    costs: all('costs').flatMap((one) => one ?? []),
    targeted: all('targeted').flatMap((one) => one ?? []),
    retrievals: all('retrievals').flatMap((one) => one ?? []),
    knowledge: all('knowledge').flatMap((one) => one ?? []),
    tests: all('tests').flatMap((one) => one ?? []),
    syncs: all('syncs').flatMap((one) => one ?? []),
    peers: all('peers').flatMap((one) => one ?? []),
    rowUses: all('rowUses').flatMap((one) => one ?? []),
    use: all('use').find((one) => one) ?? null,
    sleeping: all('sleeping').find((one) => one) ?? null,
    account: all('account').find((one) => one) ?? null,
  };
}
