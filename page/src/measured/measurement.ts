/** Measurements of flent, iperf3, ss and Waveform's test, and the buffer that explains them, as the engine's rules
 * read them. */

import { here } from "../engine/here";
import { quoted } from "../quoting";

/** What a tool measured on a path, idle and under load. */
export interface Measurement {
  tool: string;
  /** Direction of the load, seen from the client. */
  direction: "upload" | "download" | "both" | "none";
  /** Whether RTTs are those of pings or those that TCP measured. */
  probe: "ping" | "tcp";
  rtt_time_s: number[];
  rtt_s: number[];
  /** RTTs without load; may be empty. */
  idle_rtts_s: number[];
  /** Payload of all connections. */
  throughput_bps: number[];
  /** Congestion control of the load; null if the file does not tell. */
  congestion: string | null;
  /** Payload of a full packet, and the IP packet that carries it. */
  payload_bytes: number;
  packet_bytes: number;
}

/** A condition under which the largest delay shows the buffer. */
export interface Condition {
  statement: string;
  /** Whether the measurement meets it; null if it does not tell. */
  holds: boolean | null;
  found: string;
}

/** The buffer of the bottleneck. */
export interface BufferEstimate {
  /** Null if it cannot be identified. */
  buffer_bytes: number | null;
  packet_bytes: number;
  conditions: Condition[];
  /** The answer in words. */
  sentence: string;
}

/** A file that is no measurement. */
export class MeasurementError extends Error {}

/** Largest text that is read, as on the command line. */
const MOST_BYTES = 64 * 2 ** 20;

/** Reads a measurement; of long names in the file, only the beginning.
 *
 * @throws MeasurementError if the text is damaged, or of another tool.
 */
export function readMeasurement(text: string): Measurement {
  try {
    const read = JSON.parse(here().read_measurement(text)) as Measurement;
    const congestion = read.congestion && quoted(read.congestion);
    return { ...read, tool: quoted(read.tool), congestion };
  } catch (problem) {
    if (typeof problem === "string") throw new MeasurementError(problem);
    throw problem;
  }
}

/** The buffer that explains a measurement; an RTT of the idle path replaces the measured one. */
export function estimateBuffer(measured: Measurement, idleRttS: number | null): BufferEstimate {
  const text = here().estimate_buffer(JSON.stringify(measured), idleRttS ?? undefined);
  return JSON.parse(text) as BufferEstimate;
}

/** The text of a file, decompressed if it is compressed with gzip.
 *
 * @throws MeasurementError if it is too large, damaged, or compressed in another way.
 */
export async function textOf(file: Blob): Promise<string> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (first === 0x42 && second === 0x5a) {
    throw new MeasurementError("is compressed with bzip2; decompress it, or use gzip");
  }
  const isCompressed = first === 0x1f && second === 0x8b;
  const bytes = file.stream();
  return readText(isCompressed ? bytes.pipeThrough(new DecompressionStream("gzip")) : bytes);
}

async function readText(bytes: ReadableStream<BufferSource>): Promise<string> {
  const reader = bytes.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      length += value.byteLength;
      if (length > MOST_BYTES) {
        await reader.cancel();
        throw new MeasurementError("has more than 64 MB of text; measure for a shorter time");
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    if (error instanceof MeasurementError) throw error;
    throw new MeasurementError(
      "is damaged, or is not text; give a file of flent, iperf3 -J, ss -tin or Waveform's test",
    );
  }
}
