// Long TCP flows of htsim over one or two drop-tail links: CPU time per packet that a receiver got.
//
// make HTSIM=/path/to/csg-htsim, then ./dumbbell [-flows 10] [-gbps 1] ...; see arguments below.

#include "config.h"

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <vector>

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

namespace {

// CPU time of this process so far.
double cpu_seconds() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

// The number behind an option, or its default.
double argument(int count, char** values, const char* name, double otherwise) {
    for (int i = 1; i + 1 < count; i++) {
        if (!strcmp(values[i], name)) return atof(values[i + 1]);
    }
    return otherwise;
}

double received_packets(const std::vector<TcpSink*>& sinks, int packet_bytes) {
    double bytes = 0;
    for (TcpSink* sink : sinks) bytes += sink->_packets;
    return bytes / packet_bytes;
}

}  // namespace

int main(int count, char** values) {
    const auto option = [&](const char* name, double otherwise) {
        return argument(count, values, name, otherwise);
    };
    const int flows = option("-flows", 10);
    const double gbps = option("-gbps", 1);
    const double shortest_rtt_ms = option("-shortest", 36);
    const double longest_rtt_ms = option("-longest", 44);
    const int buffer_packets = option("-buffer", 1000);
    const int packet_bytes = option("-bytes", 1500);
    const int links = option("-links", 1);
    const bool one_pipe = option("-one-pipe", 0);  // one RTT, and one pipe each way for all flows
    const double duration_s = option("-duration", 60);
    const double warm_up_s = option("-warm-up", 10);
    const double starts_within_s = option("-starts-within", 1);
    const int ssthresh_packets = option("-ssthresh", 0);  // 0: htsim's default

    const double begun = cpu_seconds();
    EventList events;
    events.setEndtime(timeFromSec(duration_s));
    srand(1);
    Packet::set_packet_size(packet_bytes);
    TcpRtxTimerScanner timers(timeFromMs(10.0), events);

    std::vector<Queue*> queues;
    std::vector<Pipe*> between;
    for (int link = 0; link < links; link++) {
        queues.push_back(
            new Queue(speedFromGbps(gbps), memFromPkt(buffer_packets), events, NULL));
        if (link > 0) between.push_back(new Pipe(timeFromMs(1.0), events));
    }
    const double mean_one_way_ms = (shortest_rtt_ms + longest_rtt_ms) / 4;
    Pipe* forward = one_pipe ? new Pipe(timeFromMs(mean_one_way_ms), events) : NULL;
    Pipe* backward = one_pipe ? new Pipe(timeFromMs(mean_one_way_ms), events) : NULL;

    std::vector<TcpSink*> sinks;
    for (int flow = 0; flow < flows; flow++) {
        TcpSrc* source = new TcpSrc(NULL, NULL, events);
        TcpSink* sink = new TcpSink();
        timers.registerTcp(*source);
        if (ssthresh_packets > 0) source->set_ssthresh(ssthresh_packets * packet_bytes);
        const double share = flows > 1 ? double(flow) / (flows - 1) : 0.5;
        const double one_way_ms =
            (shortest_rtt_ms + (longest_rtt_ms - shortest_rtt_ms) * share) / 2;
        route_t* there = new route_t();
        route_t* back = new route_t();
        for (int link = 0; link < links; link++) {
            if (link > 0) there->push_back(between[link - 1]);
            there->push_back(queues[link]);
        }
        there->push_back(one_pipe ? forward : new Pipe(timeFromMs(one_way_ms), events));
        there->push_back(sink);
        back->push_back(one_pipe ? backward : new Pipe(timeFromMs(one_way_ms), events));
        back->push_back(source);
        source->connect(*there, *back, *sink, timeFromSec(starts_within_s * flow / flows));
        sinks.push_back(sink);
    }

    double warm_cpu_s = begun, warm_packets = 0;
    bool is_warm = false;
    while (events.doNextEvent()) {
        if (!is_warm && EventList::now() >= timeFromSec(warm_up_s)) {
            is_warm = true;
            warm_cpu_s = cpu_seconds();
            warm_packets = received_packets(sinks, packet_bytes);
        }
    }
    const double ended = cpu_seconds();
    const double packets = received_packets(sinks, packet_bytes);
    int drops = 0;
    for (Queue* queue : queues) drops += queue->num_drops();
    // The library prints on standard output while it builds the network.
    fprintf(stderr, "whole=%.1f steady=%.1f ns per packet; packets=%.0f drops=%d\n",
            (ended - begun) * 1e9 / packets,
            (ended - warm_cpu_s) * 1e9 / (packets - warm_packets), packets, drops);
}
