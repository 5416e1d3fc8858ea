import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { projectDirectory } from '../scripts/local/settings.ts';
import { accountSection, toAccountLines } from './account/section.ts';
import type { Result } from './bench.ts';
import type { Findings } from './cases.ts';
import type { Facts } from './facts.ts';
import type { Sample } from './load.ts';
import type { Cost } from './record.ts';
import { isHybridBest, retrievalSection } from './retrieval.ts';
import { rowCost, rowCostSection } from './row-cost.ts';
import { runCost } from './run-cost.ts';
import { runCostSection } from './run-cost-section.ts';
import { sleepingSection } from './sleeping-section.ts';
import { median } from './statistics.ts';
import { table } from './table.ts';
import { toTargetLines, targetsSection } from './targets.ts';

interface Measured {
  facts: Facts;
  findings: Findings;
  loggedLines: number;
  seconds: number;
}

export interface Report {
  facts: Facts;
  markdown: string;
  json: string;
}

const rounded = (value: number, digits = 3) => Number(value.toPrecision(digits));

/** For cases that wake runs: when the last run has ended. */
function wakingLines({ name, count, service, floor }: Result): string[] {
  if (count === undefined) return [];
  const seconds = (samples: Sample[]) => rounded(count / middle(samples).perSecond);
  return [
    `${name}: the last has ended after ${seconds(service)} s, with the floor after ${seconds(floor)} s. Each ended once, by its own event.`,
    '',
  ];
}

/** Medians over the rounds. */
const middle = (samples: Sample[]): Sample => ({
  perSecond: median(samples.map(({ perSecond }) => perSecond)),
  p50: median(samples.map(({ p50 }) => p50)),
  p99: median(samples.map(({ p99 }) => p99)),
});

/** The median of the rounds' ratios: in each the floor ran beside, so that what slowed both down cancels out. 1 is as fast as the floor. */
function toRatio({ service, floor, compares }: Result): number {
  const ratios = service.map((ours, round) =>
    compares === 'rate' ? ours.perSecond / floor[round]!.perSecond : floor[round]!.p50 / ours.p50,
  );
  return median(ratios);
}

const shown = ({ perSecond, p50, p99 }: Sample) => ({ per_second: rounded(perSecond), p50_ms: rounded(p50), p99_ms: rounded(p99) });

const shownCost = ({ calls, rowsRead, rowsWritten }: Cost) =>
  `${calls} ${calls === 1 ? 'call' : 'calls'}, ${rowsRead} rows read, ${rowsWritten} written`;

export function report({ facts, findings, loggedLines, seconds }: Measured): Report {
  const { results, costs, targeted, retrievals, knowledge, tests, syncs, peers, rowUses, use, sleeping, account } = findings;
  const lines = results.map((result) => {
    const [service, floor] = [middle(result.service), middle(result.floor)];
    return {
      case: result.name,
      service: shown(service),
      floor: shown(floor),
      ratio: rounded(toRatio(result), 2),
      ratio_of: result.compares === 'rate' ? 'per_second' : 'p50_ms',
      floor_does: result.floorDoes,
      rounds: {
        service: result.service.map(({ perSecond }) => rounded(perSecond)),
        floor: result.floor.map(({ perSecond }) => rounded(perSecond)),
      },
    };
  });
  const cells = lines.map((line) => [
    line.case,
    ...[line.service, line.floor].flatMap(({ per_second, p50_ms, p99_ms }) => [per_second, p50_ms, p99_ms].map(String)),
    line.ratio.toFixed(2),
    line.floor_does,
  ]);
  const heads = ['case', 'ours /s', 'p50 ms', 'p99 ms', 'floor /s', 'p50 ms', 'p99 ms', 'ratio', 'what the floor does'];
  const costCells = costs.map(({ name, answered, handled, ended }) => [name, ...[answered, handled, ended].map(shownCost)]);
  const markdown = [
    `# Benchmark of ${facts.measured_at.slice(0, 10)}, commit ${facts.commit}`,
    '',
    `${facts.cores} cores, ${facts.memory_gib} GiB, ${facts.platform}, Node ${facts.node}, workerd ${facts.workerd}; ${facts.connections} connections; load average ${facts.load_average} before the run; ${Math.round(seconds)} s in all.`,
    `Medians over the rounds; the ratio is the median of the rounds' ratios. LOG_LEVEL as deployed (info): ${loggedLines} lines were logged and discarded.`,
    '',
    ...section(results.length > 0 && table(heads, cells)),
    ...results.flatMap(wakingLines),
    ...section(targeted.length > 0 && targetsSection('Calls', targeted)),
    ...section(retrievals.length > 0 && retrievalSection(retrievals)),
    ...section(knowledge.length > 0 && targetsSection('Knowledge base', knowledge)),
    ...section(tests.length > 0 && targetsSection('Conversation tests', tests)),
    ...section(syncs.length > 0 && targetsSection('Integrations', syncs)),
    ...section(peers.length > 0 && targetsSection('Peers', peers)),
    ...section(
      costs.length > 0 && [
        'What one of a known contact costs D1, everything before included:',
        '',
        ...table(['accepted', 'until the answer', 'until it is handled and a run starts', 'until the run is over'], costCells),
      ],
    ),
    ...section(use !== null && runCostSection(use)),
    ...section(rowUses.length > 0 && rowCostSection(rowUses)),
    ...section(sleeping !== null && sleepingSection(sleeping)),
    ...section(account !== null && accountSection(account)),
  ].join('\n');
  const json = onShortLines({
    ...facts,
    seconds: Math.round(seconds),
    logged_lines: loggedLines,
    results: lines,
    calls: toTargetLines(targeted),
    retrieval: retrievals.map((retrieval) => Object.assign({ is_hybrid_best: isHybridBest(retrieval) }, retrieval)),
    knowledge: toTargetLines(knowledge),
    conversation_tests: toTargetLines(tests),
    integrations: toTargetLines(syncs),
    peers: toTargetLines(peers),
    d1_costs: costs,
    run_cost: use && runCost(use),
    row_costs: rowUses.map(rowCost),
    sleeping,
    cost_account: account && toAccountLines(account),
  });
  return { facts, markdown, json };
}

/** Its lines and an empty one; nothing of a case that was not chosen. */
const section = (lines: string[] | false): string[] => (lines ? [...lines, ''] : []);

/** Indented JSON in which a list of numbers is one line. */
const onShortLines = (value: object): string =>
  `${JSON.stringify(value, null, 2).replaceAll(/\[\s+([\d.,\s]+?)\s+\]/g, (_, list: string) => `[${list.replaceAll(/\s+/g, ' ')}]`)}\n`;

/** Writes the report under its date and commit, and as the latest; answers where. */
export function writeReport({ facts, markdown, json }: Report): string {
  const directory = join(projectDirectory, 'bench', 'results');
  mkdirSync(directory, { recursive: true });
  const name = `${facts.measured_at.slice(0, 10)}-${facts.commit}`;
  for (const file of [name, 'latest']) {
    writeFileSync(join(directory, `${file}.md`), markdown);
    writeFileSync(join(directory, `${file}.json`), json);
  }
  return relative(projectDirectory, join(directory, `${name}.md`));
}
