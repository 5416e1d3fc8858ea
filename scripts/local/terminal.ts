/** A line with the progress of a slow step. A terminal rewrites it each second, a log gets it once; other lines are printed above it. */
export class Terminal {
  readonly #isInteractive = process.stdout.isTTY === true;
  #step: { text: string; startedAt: number; timer: NodeJS.Timeout | undefined } | undefined;

  line(text: string): void {
    this.#clear();
    console.log(text);
    this.#draw();
  }

  begin(text: string): void {
    this.end();
    const timer = this.#isInteractive ? setInterval(() => this.#draw(), 1_000) : undefined;
    this.#step = { text, startedAt: Date.now(), timer };
    if (this.#isInteractive) this.#draw();
    else console.log(`${text} ...`);
  }

  end(): void {
    if (this.#step === undefined) return;
    clearInterval(this.#step.timer);
    this.#clear();
    this.#step = undefined;
  }

  #draw(): void {
    if (!this.#isInteractive || this.#step === undefined) return;
    const seconds = Math.floor((Date.now() - this.#step.startedAt) / 1_000);
    process.stdout.write(`\r\u001B[K${this.#step.text} ... ${seconds} s`);
  }

  #clear(): void {
    if (this.#isInteractive && this.#step !== undefined) process.stdout.write('\r\u001B[K');
  }
}
