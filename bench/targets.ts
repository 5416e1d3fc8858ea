import { median } from './statistics.ts';
import { table } from './table.ts';

/** A figure with its target, beside the floor's figure where there is one. */
export interface TargetedFigure {
  name: string;
  unit: string;
  /** Absent: the value is only reported. */
  target?: { atLeast: number } | { atMost: number };
  /** The values of all rounds. */
  service: number[];
  floor?: number[];
  /** What the floor does. */
  floorDoes?: string;
}

const shown = (value: number) => String(Number(value.toPrecision(3)));

/** The figures as the report and its JSON have them. */
export const toTargetLines = (figures: TargetedFigure[]) =>
  figures.map(({ name, unit, target, service, floor, floorDoes }) => ({
    name,
    unit,
    target: target ?? null,
    service: median(service),
    floor: floor ? median(floor) : null,
    is_met: target ? isMet(target, median(service)) : null,
    floor_does: floorDoes ?? null,
    rounds: { service, floor: floor ?? null },
  }));

const isMet = (target: NonNullable<TargetedFigure['target']>, value: number): boolean =>
  'atLeast' in target ? value >= target.atLeast : value <= target.atMost;

/** Medians over the rounds beside their targets. `title` names what they are about. */
export function targetsSection(title: string, figures: TargetedFigure[]): string[] {
  const heads = [title.toLowerCase(), 'target', 'ours', 'floor', 'met', 'what the floor does'];
  const cells = toTargetLines(figures).map(({ name, unit, target, service, floor, is_met: met, floor_does: does }) => [
    `${name}${unit === '' ? '' : `, ${unit}`}`,
    target === null ? '' : 'atLeast' in target ? `>= ${target.atLeast}` : `<= ${target.atMost}`,
    shown(service),
    floor === null ? '' : shown(floor),
    met === null ? '' : met ? 'yes' : 'NO',
    does ?? '',
  ]);
  return [`${title}, medians over the rounds:`, '', ...table(heads, cells)];
}
