import { getNode, type ConversationContext } from './conversation-context.ts';

/** Says what one turn has to say, and knows how long that takes. */
export class SpeechOutput {
  /** Whole utterances. */
  readonly said: string[] = [];
  readonly #context: ConversationContext;
  #utterance = '';
  /** Epoch ms when everything has been spoken, as far as its length tells. */
  speaksUntil: number;

  constructor(context: ConversationContext) {
    this.#context = context;
    this.speaksUntil = context.dependencies.now();
  }

  /** What has been said of the utterance under way. */
  get utterance(): string {
    return this.#utterance.trim();
  }

  get hasSpoken(): boolean {
    return this.said.length > 0 || this.utterance !== '';
  }

  /** The next piece of an utterance. Blanks before its first word are held back: they may be all that comes. */
  append(text: string): void {
    const isBegun = this.utterance !== '';
    this.#utterance += text;
    if (isBegun) this.#emit(text, false);
    else if (this.utterance !== '') this.#emit(this.#utterance.trimStart(), false);
  }

  /** Ends the utterance and gives it; empty when nothing was said. */
  finishUtterance(): string {
    const text = this.utterance;
    this.#utterance = '';
    if (text === '') return text;
    this.#emit('', true);
    this.#recordSpoken(text);
    return text;
  }

  /** Says a whole utterance at once. */
  speak(text: string): void {
    this.#emit(text, true);
    this.#recordSpoken(text);
  }

  #recordSpoken(text: string): void {
    this.said.push(text);
    this.speaksUntil =
      Math.max(this.speaksUntil, this.#context.dependencies.now()) + text.length * this.#context.setup.millisecondsPerCharacter;
  }

  #emit(token: string, last: boolean): void {
    const { id, data } = getNode(this.#context);
    this.#context.say(token, last, { nodeId: id, isInterruptible: data.allow_interrupt });
  }
}
