// The engine as WebAssembly, which `make page` builds from crates/tailroom-web.
declare module "#wasm/tailroom_web.js" {
  export default function init(input: {
    module_or_path: WebAssembly.Module | BufferSource;
  }): Promise<unknown>;
  export function build(): string;
  export function components(): string;
  export function resolve(
    text: string,
    set: string,
    seed: bigint | undefined,
    files: Files,
  ): string;
  export function model_input(
    text: string,
    set: string,
    seed: bigint | undefined,
    files: Files,
  ): string;
  export function advice(link: string, utilization: number, loss_fraction: number): string;
  export function equivalents(link: string, unit: string, steps: number): string;
  export function limit_text(unit: string, steps: number): string;
  export function read_limit(text: string): string;
  export function read_measurement(text: string): string;
  export function estimate_buffer(measurement: string, idle_rtt_s: number | undefined): string;
  export function size_search_step(question: string): string;
  export function student_quantile(degrees_of_freedom: number, probability: number): number;
  export function set_key(text: string, path: string[], value: string): string;
  export function remove_key(text: string, path: string[]): string;
  export class Files {
    constructor(texts: string);
    free(): void;
  }
  export class Run {
    constructor(text: string, set: string, seed: bigint | undefined, files: Files);
    advance(milliseconds: number): number;
    seconds(): number;
    series(): string | undefined;
    delays(): string;
    finish(): string;
    free(): void;
  }
  export class Packets {
    constructor(
      text: string,
      set: string,
      seed: bigint | undefined,
      files: Files,
      link: string,
      from: number,
      to: number,
    );
    advance(milliseconds: number): number;
    sort(): void;
    about(): string;
    present(): Uint32Array;
    present_marks(): Uint8Array;
    times(): Float64Array;
    events(): Uint8Array;
    flows(): Uint32Array;
    free(): void;
  }
}

declare module "#wasm/tailroom_web_bg.wasm?url" {
  const address: string;
  export default address;
}
