import { getNode, type ConversationContext } from './conversation-context.ts';

/** Speaks the utterances of one turn and estimates how long they take. */
export class SpeechOutput {
  /** The finished utterances. */
  readonly said: string[] = [];
  readonly #context: ConversationContext;
  #utterance = '';
  /** Epoch ms at which everything has been spoken, estimated from its length. */
  speaksUntil: number;

  constructor(context: ConversationContext) {
    this.#context = context;
    this.speaksUntil = context.dependencies.now();
  }

  /** The text of the unfinished utterance. */
  get utterance(): string {
    return this.#utterance.trim();
  }

  get hasSpoken(): boolean {
    return this.said.length > 0 || this.utterance !== '';
  }

  /** Says the next piece of an utterance. Leading blanks are held back until the first word. */
  append(text: string): void {
    const isBegun = this.utterance !== '';
    this.#utterance += text;
    if (isBegun) this.#emit(text, false);
    else if (this.utterance !== '') this.#emit(this.#utterance.trimStart(), false);
  }

  /** Ends the utterance and returns it; empty when nothing was said. */
  finishUtterance(): string {
    const text = this.utterance;
    this.#utterance = '';
    if (text === '') return text;
    this.#emit('', true);
    this.#recordSpoken(text);
    return text;
  }

  /** Says a whole utterance. */
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
