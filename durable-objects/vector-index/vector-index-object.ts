import { DurableObject } from 'cloudflare:workers';

export class VectorIndexObject extends DurableObject<Env> {}
