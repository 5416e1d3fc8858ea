import type { QuantizedVector } from './quantized-vector.ts';
import { slotsPerPage, VectorPage } from './vector-page.ts';

const schema = [
  'CREATE TABLE IF NOT EXISTS page (number INTEGER PRIMARY KEY, ids BLOB NOT NULL, document_ids BLOB NOT NULL, scales BLOB NOT NULL, codes BLOB NOT NULL)',
  'CREATE TABLE IF NOT EXISTS fine (id INTEGER PRIMARY KEY, code BLOB NOT NULL)',
];

type PageRow = { number: number; ids: ArrayBuffer; document_ids: ArrayBuffer; scales: ArrayBuffer; codes: ArrayBuffer };

interface NewVector {
  id: number;
  documentId: number;
  vector: QuantizedVector;
}

/**
 * The vectors of one object. Pages, which hold what a scan reads, are in memory and in SQLite alike; the fine codes, a row each, in SQLite
 * alone. When writing throws, what is in memory may be ahead of the disk: drop it and load again.
 */
export class StoredVectors {
  readonly #storage: DurableObjectStorage;
  readonly #pages = new Map<number, VectorPage>();
  /** Place of each id: page * 64 + slot. */
  readonly #positions = new Map<number, number>();
  readonly #pagesWithFreeSlots = new Set<number>();

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    if (!isThere(storage)) return;
    for (const { number, ...row } of storage.sql.exec<PageRow>(
      'SELECT number, ids, document_ids, scales, codes FROM page ORDER BY number',
    )) {
      const page = new VectorPage(row);
      this.#pages.set(number, page);
      if (page.used < slotsPerPage) this.#pagesWithFreeSlots.add(number);
      for (const [slot, id] of page.ids.entries()) if (id !== 0) this.#positions.set(id, number * slotsPerPage + slot);
    }
  }

  get size(): number {
    return this.#positions.size;
  }

  get pages(): Iterable<VectorPage> {
    return this.#pages.values();
  }

  get bytes(): number {
    return this.#pages.size * pageBytes;
  }

  has(id: number): boolean {
    return this.#positions.has(id);
  }

  put(vectors: NewVector[]): void {
    const { sql } = this.#storage;
    const changed = new Set<number>();
    this.#storage.transactionSync(() => {
      for (const step of schema) sql.exec(step);
      for (const { id, documentId, vector } of vectors) {
        const place = this.#positions.get(id) ?? this.#claimSlot(id);
        const [page, slot] = this.#slotAt(place);
        page.documentIds[slot] = documentId;
        page.scales[slot] = vector.scale;
        page.code(slot).set(vector.coarse);
        changed.add(toPageNumber(place));
        sql.exec('INSERT OR REPLACE INTO fine (id, code) VALUES (?, ?)', id, vector.fine.buffer);
      }
      this.#write(changed);
    });
  }

  remove(ids: number[]): void {
    const there = ids.filter((id) => this.has(id));
    if (there.length === 0) return;
    const changed = new Set<number>();
    this.#storage.transactionSync(() => {
      for (const id of there) {
        const place = this.#positions.get(id);
        // Named twice.
        if (place === undefined) continue;
        const [page, slot] = this.#slotAt(place);
        page.ids[slot] = 0;
        page.used -= 1;
        this.#positions.delete(id);
        this.#pagesWithFreeSlots.add(toPageNumber(place));
        changed.add(toPageNumber(place));
      }
      this.#storage.sql.exec('DELETE FROM fine WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(there));
      this.#write(changed);
    });
  }

  /** The vectors of those of the ids that are there. */
  *read(ids: number[]): Iterable<{ id: number; vector: QuantizedVector }> {
    const there = [...new Set(ids)].filter((id) => this.has(id));
    if (there.length === 0) return;
    const rows = this.#storage.sql.exec<{ id: number; code: ArrayBuffer }>(
      'SELECT fine.id, fine.code FROM json_each(?) AS wanted CROSS JOIN fine ON fine.id = wanted.value',
      JSON.stringify(there),
    );
    for (const { id, code } of rows) {
      const [page, slot] = this.#slotAt(this.#positions.get(id)!);
      yield { id, vector: { scale: page.scales[slot]!, coarse: page.code(slot), fine: new Int8Array(code) } };
    }
  }

  #slotAt(place: number): [VectorPage, number] {
    return [this.#pages.get(toPageNumber(place))!, place % slotsPerPage];
  }

  #claimSlot(id: number): number {
    const [number = this.#newPage()] = this.#pagesWithFreeSlots;
    const page = this.#pages.get(number)!;
    const slot = page.freeSlot();
    page.ids[slot] = id;
    page.used += 1;
    if (page.used === slotsPerPage) this.#pagesWithFreeSlots.delete(number);
    const place = number * slotsPerPage + slot;
    this.#positions.set(id, place);
    return place;
  }

  #newPage(): number {
    let number = 0;
    while (this.#pages.has(number)) number += 1;
    this.#pages.set(number, new VectorPage());
    this.#pagesWithFreeSlots.add(number);
    return number;
  }

  #write(numbers: Iterable<number>): void {
    for (const number of numbers) {
      const page = this.#pages.get(number)!;
      if (page.used === 0) {
        this.#pages.delete(number);
        this.#pagesWithFreeSlots.delete(number);
        this.#storage.sql.exec('DELETE FROM page WHERE number = ?', number);
      } else {
        this.#storage.sql.exec(
          'INSERT OR REPLACE INTO page (number, ids, document_ids, scales, codes) VALUES (?, ?, ?, ?, ?)',
          number,
          page.ids.buffer,
          page.documentIds.buffer,
          page.scales.buffer,
          page.codes.buffer,
        );
      }
    }
  }
}

const toPageNumber = (place: number): number => Math.floor(place / slotsPerPage);
const pageBytes = new VectorPage().codes.byteLength;

/** Asked first, so that a stray question makes no tables. */
const isThere = (storage: DurableObjectStorage): boolean =>
  storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'page'").toArray().length > 0;
