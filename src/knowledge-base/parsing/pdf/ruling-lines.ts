import type { PathCommand } from './drawn-paths.ts';

/** A line that is drawn along or across the page, from one point to the other, in points of the page. */
export interface RulingLine {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** `a b c d e f`, as PDF has it. */
export type Matrix = readonly [number, number, number, number, number, number];
export const identity: Matrix = [1, 0, 0, 1, 0, 0];

/** What is drawn in another stream: its commands, and how its coordinates become those of the stream that draws it. */
export interface DrawnForm {
  commands: PathCommand[];
  matrix: Matrix;
  find: FindForm;
}
export type FindForm = (name: string) => DrawnForm | undefined;

/** Filled shapes up to this thickness are lines. */
const maxThickness = 3;
const minLength = 4;
const maxTilt = 1;
/** A page with more lines is a drawing. */
const maxLines = 4000;
const maxFormDepth = 5;
const maxStates = 200;
/** The maximum of commands that are followed for a page. */
const maxSteps = 100_000;

interface Subpath {
  points: [x: number, y: number][];
  isClosed: boolean;
}

/** Follows the commands of a page and collects the straight lines that they draw, as strokes or as thin filled shapes. */
export class RulingLineCollector {
  readonly lines: RulingLine[] = [];
  private matrix: Matrix = identity;
  private readonly saved: Matrix[] = [];
  private path: Subpath[] = [];
  private steps = 0;

  /** Whether the page draws more than text and tables do: then its lines are not complete. */
  get isDrawing(): boolean {
    return this.lines.length > maxLines || this.steps > maxSteps;
  }

  follow(commands: PathCommand[], find: FindForm, depth = 0): void {
    for (const command of commands) {
      this.steps += 1;
      if (this.isDrawing) return;
      if (command.kind === 'do') this.followForm(find(command.name), depth);
      else this.followCommand(command);
    }
  }

  private followForm(form: DrawnForm | undefined, depth: number): void {
    if (form === undefined || depth >= maxFormDepth) return;
    const before = this.matrix;
    const states = this.saved.length;
    this.matrix = multiply(form.matrix, before);
    this.follow(form.commands, form.find, depth + 1);
    this.matrix = before;
    this.saved.length = Math.min(states, this.saved.length);
    this.path = [];
  }

  private followCommand(command: Exclude<PathCommand, { kind: 'do' }>): void {
    if (command.kind === 'save') {
      if (this.saved.length < maxStates) this.saved.push(this.matrix);
    } else if (command.kind === 'restore') this.matrix = this.saved.pop() ?? this.matrix;
    else if (command.kind === 'close') this.close();
    else if (command.kind === 'stroke' || command.kind === 'fill') this.paint(command.kind);
    else if (command.kind === 'end') this.path = [];
    else if (command.kind === 'transform') this.matrix = multiply(command.numbers as unknown as Matrix, this.matrix);
    else if ('numbers' in command) this.draw(command.kind, command.numbers);
  }

  private draw(kind: 'move' | 'line' | 'rectangle', [x = 0, y = 0, width = 0, height = 0]: number[]): void {
    const start = transform(this.matrix, x, y);
    if (kind === 'line') {
      const last = this.path.at(-1);
      if (last) last.points.push(start);
      return;
    }
    const points =
      kind === 'move'
        ? [start]
        : [
            start,
            transform(this.matrix, x + width, y),
            transform(this.matrix, x + width, y + height),
            transform(this.matrix, x, y + height),
          ];
    this.path.push({ points, isClosed: kind === 'rectangle' });
  }

  private close(): void {
    const last = this.path.at(-1);
    if (last) last.isClosed = true;
  }

  private paint(kind: 'stroke' | 'fill'): void {
    for (const { points, isClosed } of this.path) {
      const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
      const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
      if (right - left <= maxThickness) this.add((left + right) / 2, low, (left + right) / 2, high);
      else if (high - low <= maxThickness) this.add(left, (low + high) / 2, right, (low + high) / 2);
      else if (kind === 'stroke')
        for (const [index, [x, y]] of points.entries()) {
          const [nextX, nextY] = points[index + 1] ?? (isClosed ? points[0]! : [x, y]);
          this.add(x, y, nextX, nextY);
        }
    }
    this.path = [];
  }

  private add(x0: number, y0: number, x1: number, y1: number): void {
    const [width, height] = [Math.abs(x1 - x0), Math.abs(y1 - y0)];
    if (Math.max(width, height) < minLength || Math.min(width, height) > maxTilt) return;
    if (Number.isFinite(width + height)) this.lines.push({ x0, y0, x1, y1 });
  }
}

function multiply([a, b, c, d, e, f]: Matrix, [a2, b2, c2, d2, e2, f2]: Matrix): Matrix {
  return [a * a2 + b * c2, a * b2 + b * d2, c * a2 + d * c2, c * b2 + d * d2, e * a2 + f * c2 + e2, e * b2 + f * d2 + f2];
}

const transform = ([a, b, c, d, e, f]: Matrix, x: number, y: number): [number, number] => [a * x + c * y + e, b * x + d * y + f];
