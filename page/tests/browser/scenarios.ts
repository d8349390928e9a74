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
