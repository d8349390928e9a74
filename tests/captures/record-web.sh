#!/usr/bin/env bash
# Makes web.pcap anew: a client, 192.0.2.10, fetches 12 files from a server, 198.51.100.20; each is in
# a network namespace of its own.
# Needs root, tcpdump, curl, iproute2 and python3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

files=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; ip netns del client; ip netns del server; rm -rf "$files"' EXIT
ip netns add client
ip netns add server
ip link add inside netns client type veth peer name outside netns server
for end in client:inside:192.0.2.10:198.51.100.20 server:outside:198.51.100.20:192.0.2.10; do
    IFS=: read -r name device own other <<<"$end"
    ip -n "$name" link set lo up
    ip -n "$name" address add "$own/32" dev "$device"
    ip -n "$name" link set "$device" up
    ip -n "$name" route add "$other/32" dev "$device"
done
for size in 2000 8000 20000 60000 150000 400000; do
    head -c "$size" /dev/zero >"$files/$size"
done
ip netns exec server python3 -m http.server --directory "$files" --bind 198.51.100.20 8000 \
    2>/dev/null &
# 82 bytes: Ethernet, IPv4 and TCP with options of 28 bytes; the payload is cut off.
ip netns exec client tcpdump -Z root -i inside -s 82 -U -w web.pcap tcp 2>/dev/null &
sleep 1
for size in 2000 60000 8000 400000 20000 8000 150000 2000 20000 8000 60000 2000; do
    ip netns exec client curl --silent --output /dev/null "http://198.51.100.20:8000/$size"
    sleep 0.1
done
sleep 1
