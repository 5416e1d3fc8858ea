import { dimensions } from '../../src/providers/vector-index/vector-limits.ts';

export const slotsPerPage = 64;

/** 64 slots for vectors, the same on disk (one row) as in memory. A slot with the id 0 is free. */
export class VectorPage {
  readonly ids: Float64Array<ArrayBuffer>;
  readonly documentIds: Float64Array<ArrayBuffer>;
  readonly scales: Float32Array<ArrayBuffer>;
  /** The coarse codes, one after another. */
  readonly codes: Int8Array<ArrayBuffer>;
  used: number;

  constructor(row?: { ids: ArrayBuffer; document_ids: ArrayBuffer; scales: ArrayBuffer; codes: ArrayBuffer }) {
    this.ids = row ? new Float64Array(row.ids) : new Float64Array(slotsPerPage);
    this.documentIds = row ? new Float64Array(row.document_ids) : new Float64Array(slotsPerPage);
    this.scales = row ? new Float32Array(row.scales) : new Float32Array(slotsPerPage);
    this.codes = row ? new Int8Array(row.codes) : new Int8Array(slotsPerPage * dimensions);
    this.used = this.ids.reduce((count, id) => count + (id === 0 ? 0 : 1), 0);
  }

  code(slot: number): Int8Array<ArrayBuffer> {
    return this.codes.subarray(slot * dimensions, (slot + 1) * dimensions);
  }

  freeSlot(): number {
    return this.ids.indexOf(0);
  }
}
