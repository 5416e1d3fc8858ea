/** Remembers which row of a source first had a phone number. */
export interface SeenPhones {
  /** The first row that claimed `phone` (E.164); undefined when this row is the first. */
  claim(phone: string, rowNumber: number): number | undefined;
}

const maxLoadFactor = 0.75;
/** Numbers of up to 15 digits are exact as floating point. Longer phone numbers exist and are rare. */
const maxExactDigits = 15;

/** Keeps phone numbers in memory at 16 to 32 bytes each. A file of 50 MiB may hold millions, and a Map would take several times the memory. */
export class CompactSeenPhones implements SeenPhones {
  #phones = new Float64Array(1 << 10);
  #rows = new Uint32Array(1 << 10);
  #size = 0;
  readonly #longPhones = new Map<string, number>();

  claim(phone: string, rowNumber: number): number | undefined {
    const digits = phone.slice(1);
    if (digits.length > maxExactDigits) {
      const before = this.#longPhones.get(phone);
      if (before === undefined) this.#longPhones.set(phone, rowNumber);
      return before;
    }
    const number = Number(digits);
    const place = this.#findIndex(number);
    if (this.#phones[place] === number) return this.#rows[place];
    this.#phones[place] = number;
    this.#rows[place] = rowNumber;
    this.#size += 1;
    if (this.#size > this.#phones.length * maxLoadFactor) this.#grow();
    return undefined;
  }

  /** The index of `number`, or of the empty slot where it belongs. No phone number is zero. */
  #findIndex(number: number): number {
    const mask = this.#phones.length - 1;
    let index = hashNumber(number) & mask;
    while (this.#phones[index] !== 0 && this.#phones[index] !== number) index = (index + 1) & mask;
    return index;
  }

  #grow(): void {
    const [phones, rows] = [this.#phones, this.#rows];
    this.#phones = new Float64Array(phones.length * 2);
    this.#rows = new Uint32Array(phones.length * 2);
    for (const [index, number] of phones.entries()) {
      if (number === 0) continue;
      const place = this.#findIndex(number);
      this.#phones[place] = number;
      this.#rows[place] = rows[index]!;
    }
  }
}

/** The finalizer of MurmurHash3 over both halves of a number. */
function hashNumber(number: number): number {
  let hash = ((number % 0x100000000) ^ Math.imul(Math.floor(number / 0x100000000), 0x9e3779b1)) | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The state in which a row with a dialable number begins: skipped when an earlier row has the number, else pending. */
export function claimPhone(
  seen: SeenPhones,
  phone: string,
  rowNumber: number,
): { state: 'pending'; reason: null } | { state: 'skipped'; reason: string } {
  const before = seen.claim(phone, rowNumber);
  // A source that is read again after an interruption finds its own rows.
  if (before === undefined || before === rowNumber) return { state: 'pending', reason: null };
  return { state: 'skipped', reason: `duplicate: row ${before} has the same number` };
}
