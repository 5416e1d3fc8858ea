import { nodeOf, type Talk } from './talk.ts';

/** Says what one turn has to say, and knows how long that takes. */
export class Voice {
  /** Whole utterances. */
  readonly said: string[] = [];
  readonly #talk: Talk;
  #utterance = '';
  /** Epoch ms when everything has been spoken, as far as its length tells. */
  speaksUntil: number;

  constructor(talk: Talk) {
    this.#talk = talk;
    this.speaksUntil = talk.world.now();
  }

  /** What has been said of the utterance under way. */
  get utterance(): string {
    return this.#utterance.trim();
  }

  get hasSpoken(): boolean {
    return this.said.length > 0 || this.utterance !== '';
  }

  /** The next piece of an utterance. Blanks before its first word are held back: they may be all that comes. */
  add(text: string): void {
    const isBegun = this.utterance !== '';
    this.#utterance += text;
    if (isBegun) this.#say(text, false);
    else if (this.utterance !== '') this.#say(this.#utterance.trimStart(), false);
  }

  /** Ends the utterance and gives it; empty when nothing was said. */
  close(): string {
    const text = this.utterance;
    this.#utterance = '';
    if (text === '') return text;
    this.#say('', true);
    this.#spoke(text);
    return text;
  }

  /** Says a whole utterance at once. */
  utter(text: string): void {
    this.#say(text, true);
    this.#spoke(text);
  }

  #spoke(text: string): void {
    this.said.push(text);
    this.speaksUntil = Math.max(this.speaksUntil, this.#talk.world.now()) + text.length * this.#talk.setup.millisecondsACharacter;
  }

  #say(token: string, last: boolean): void {
    const { id, data } = nodeOf(this.#talk);
    this.#talk.say(token, last, { nodeId: id, isInterruptible: data.allow_interrupt });
  }
}
