import { dollarsPerMillion, type Counts } from '../account/operations.ts';
import { barChart, type ChartLine } from './bar-chart.ts';

/** As much of `results/latest.json` as is drawn. */
export interface Results {
  measured_at: string;
  commit: string;
  cores: number;
  results: { case: string; ratio: number; ratio_of: string; service: { per_second: number }; floor: { per_second: number } }[];
  knowledge: TargetLine[];
  /** Absent in results of earlier versions, and empty when no peers were measured. */
  peers?: TargetLine[];
}

interface TargetLine {
  name: string;
  unit: string;
  service: number;
  floor: number | null;
}

export interface Chart {
  file: string;
  title: string;
  /** What it shows, as a sentence or two. */
  about: string;
  svg: string;
}

const shown = (value: number) => String(Number(value.toPrecision(3)));

/** The charts for which there are figures. */
export function drawCharts(results: Results, counts: Record<string, Counts>): Chart[] {
  const charts: (Omit<Chart, 'svg'> & { lines: ChartLine[]; mark?: number })[] = [
    {
      file: 'rates.svg',
      title: 'Share of the floor',
      about:
        'The red line is the floor: the same D1 calls, queue messages and objects without the service around them. Labels are ours and the floor, a second.',
      lines: results.results.filter(({ ratio_of: of }) => of === 'per_second').map(toRateLine),
      mark: 1,
    },
    {
      file: 'costs.svg',
      title: 'Dollars a million',
      about:
        'What a million of each unit of work are billed, without processor and object time, by the counts in bench/account/counts.json.',
      lines: Object.entries(counts).map(([unit, counted]) => toCostLine(unit, dollarsPerMillion(counted))),
    },
    {
      file: 'growth.svg',
      title: 'A question to the embedded index, ms',
      about:
        'Twenty times the vectors; the gray bar is a plain scan of floats. The time grows with the number of vectors, and less than it.',
      lines: results.knowledge.filter(({ name }) => name.endsWith(' vectors in the embedded index: a question')).map(toGrowthLine),
    },
    {
      file: 'peers.svg',
      title: 'Beside other programs',
      about: 'Ours in blue, the other program in gray, measured in turn in one run.',
      lines: (results.peers ?? []).filter(({ floor }) => floor !== null).map(toPairLine),
    },
  ];
  return charts
    .filter(({ lines }) => lines.length > 0)
    .map(({ file, title, about, lines, mark }) => ({ file, title, about, svg: barChart(title, lines, mark) }));
}

const toRateLine = ({ case: name, ratio, service, floor }: Results['results'][number]): ChartLine => ({
  name,
  bars: [{ value: ratio, kind: 'ours' }],
  label: `${shown(ratio)}: ${shown(service.per_second)} of ${shown(floor.per_second)}`,
});

/** A unit that is made of many would leave the others no length. */
const longestCostBar = 150;

const toCostLine = (unit: string, dollars: number): ChartLine => ({
  name: unit,
  bars: [{ value: Math.min(dollars, longestCostBar), kind: 'ours' }],
  label: `$${dollars.toFixed(2)}${dollars > longestCostBar ? ' (bar is cut)' : ''}`,
});

const toGrowthLine = ({ name, unit, service, floor }: TargetLine): ChartLine => ({
  name: name.replace(/: a question$/, ''),
  bars: [
    { value: service, kind: 'ours' },
    { value: floor!, kind: 'other' },
  ],
  label: `${shown(service)} and ${shown(floor!)} ${unit}`,
});

/** The units of the lines differ, so each line's greater bar has the same length. */
function toPairLine({ name, unit, service, floor }: TargetLine): ChartLine {
  const most = Math.max(service, floor!);
  return {
    name: name.replace('Webhook to completed run of 6 nodes beside n8n 2.8.4', 'Runs of 6 nodes beside n8n'),
    bars: [
      { value: service / most, kind: 'ours' },
      { value: floor! / most, kind: 'other' },
    ],
    label: `${shown(service)} and ${shown(floor!)}${unit && ` ${unit}`}`,
  };
}
