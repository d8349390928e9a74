/** Scenarios that several tests in the browser open. */

export const TWO_RENO = `title = "Two Reno flows"
duration = "10 s"
measure_from = "2 s"

[links.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "20 packets" }

[flows.reno]
count = 2
path = ["bottleneck"]
congestion = "reno"
rtt = "40 ms"
`;

/** Eight ports of a switch that share 400 kB, each used by two flows. */
export const POOL = `title = "Eight ports with one memory"
duration = "1 s"
measure_from = "0.1 s"

[pools.asic]
size = "400 kB"
policy = { kind = "dynamic_threshold", alpha = 1 }
${Array.from(
  { length: 8 },
  (_, port) => `
[links.port${port}]
pool = "asic"
rate = "${50 + 10 * port} Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail" }

[flows.to${port}]
count = 2
path = ["port${port}"]
congestion = "cubic"
rtt = "10 ms"
`,
).join("")}`;

/** Two ports of a switch that share 400 kB, each used by two flows of a data centre. */
export const TWO_PORTS = `duration = "0.2 s"
measure_from = "0.05 s"
[pools.asic]
size = "400 kB"
policy = { kind = "dynamic_threshold", alpha = 1 }
[links.a]
pool = "asic"
rate = "1 Gbit/s"
delay = "5 us"
queue = "drop_tail"
[links.b]
pool = "asic"
rate = "1 Gbit/s"
delay = "5 us"
queue = "drop_tail"
[flows.to-a]
count = 2
path = ["a"]
congestion = "reno"
host = "data_center"
rtt = { uniform = ["180 us", "220 us"] }
[flows.to-b]
count = 2
path = ["b"]
congestion = "reno"
host = "data_center"
rtt = { uniform = ["180 us", "220 us"] }
`;
