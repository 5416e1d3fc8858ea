import type { WarningCode, WarningCounts } from '../warnings.ts';
import type { Skipped } from './elements.ts';

const codes: Record<Exclude<Skipped, 'unshown'>, WarningCode> = {
  hidden: 'hidden_left_out',
  control: 'controls_left_out',
  reading: 'readings_left_out',
  drawing: 'images_skipped',
};

/** Follows the parser through an element whose text is left out, and counts the element if it has text. */
export class SkippedElements {
  private readonly warnings: WarningCounts;
  private depth = 0;
  private why: Skipped = 'unshown';
  private hasText = false;
  /** Inside a text of a drawing; its title and description are not shown. */
  private isInDrawnText = false;

  constructor(warnings: WarningCounts) {
    this.warnings = warnings;
  }

  get isInside(): boolean {
    return this.depth > 0;
  }

  begin(why: Skipped): void {
    this.depth = 1;
    this.why = why;
    this.hasText = false;
    this.isInDrawnText = false;
  }

  open(name: string): void {
    this.depth += 1;
    if (name === 'text') this.isInDrawnText = true;
    if (name === 'title' || name === 'script' || name === 'style') this.isInDrawnText = false;
  }

  text(text: string): void {
    this.hasText ||= (this.why !== 'drawing' || this.isInDrawnText) && text.trim() !== '';
  }

  close(): void {
    this.depth -= 1;
    if (this.depth === 0 && this.hasText && this.why !== 'unshown') this.warnings.add(codes[this.why]);
  }
}
