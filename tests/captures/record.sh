#!/usr/bin/env bash
# Makes loopback.pcap and loopback.csv anew: HTTP between curl and Python's http.server, on a
# loopback interface of its own.
# What curl says that it sent and received is what the capture must show.
# Needs root, tcpdump, curl, iproute2.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
[ "${1:-}" = inside ] || exec unshare --net "./${BASH_SOURCE[0]##*/}" inside

ip link set lo up mtu 1500
files=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$files"' EXIT
head -c 700 /dev/zero >"$files/small"
head -c 40000 /dev/zero >"$files/medium"
head -c 250000 /dev/zero >"$files/large"
python3 -m http.server --directory "$files" --bind :: 8000 2>"$files/log" &
# 82 bytes: Ethernet, IPv4 and TCP with options of 28 bytes; the payload is cut off.
tcpdump -Z root -i lo -s 82 -U -w loopback.pcap tcp 2>/dev/null &
sleep 1

echo "client_port,sent_bytes,received_bytes" >loopback.csv
for url in 127.0.0.1:8000/small 127.0.0.1:8000/medium '[::1]:8000/large' 127.0.0.1:8000/nowhere; do
    curl --silent --globoff --output /dev/null --write-out \
        '%{local_port} %{size_request} %{size_header} %{size_download}\n' "http://$url"
done | while read -r port sent header body; do
    echo "$port,$sent,$((header + body))"
done >>loopback.csv
sleep 1
