/* Runs a congestion control on the paths of vectors, and prints its results.

   cc -o harness harness.c && ./harness vectors > results.json */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (1 << 20) /* packets of a run, and samples */
#define MOST_LOST 64

/* The control to check: Reno. */
struct control { double decrease, cwnd, ssthresh; };

static void on_ack(struct control *reno) {
    reno->cwnd += reno->cwnd < reno->ssthresh ? 1 : 1 / reno->cwnd;
}

static void on_loss(struct control *reno) {
    double kept = reno->decrease * reno->cwnd;
    reno->cwnd = reno->ssthresh = kept < 2 ? 2 : kept;
}

static void fail(const char *what, const char *which) {
    fprintf(stderr, "harness: %s: %s\n", which, what);
    exit(1);
}

/* The text behind a key of the script; NULL if the script does not have the key. */
static const char *value(const char *vector, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *found = strstr(vector, quoted);
    return found ? found + strlen(quoted) : NULL;
}

static double number(const char *vector, const char *key) {
    const char *found = value(vector, key);
    if (!found) fail("is not in the vector", key);
    return strtod(found, NULL);
}

static size_t numbers(const char *vector, const char *key, long *found) {
    const char *text = value(vector, key);
    size_t count = 0;
    if (!text) return 0;
    text = strchr(text, '[') + 1;
    for (char *end; count < MOST_LOST; text = end + strspn(end, ", \n")) {
        long one = strtol(text, &end, 10);
        if (end == text) break;
        found[count++] = one;
    }
    return count;
}

static struct { double time, cwnd, ssthresh; } samples[MOST];
static struct { double time; long packet; } acks[MOST]; /* in the order of time */

/* Sends on the path of a script; the third later ACK shows that a packet is lost. */
static void run(const char *name, const char *vector, double decrease) {
    double rtt = number(vector, "rtt_s"), duration = number(vector, "duration_s");
    double service = 8 * number(vector, "packet_bytes") / number(vector, "rate_bps");
    struct control control = {decrease, number(vector, "initial_cwnd_packets"), 1e9};
    if (value(vector, "initial_ssthresh_packets"))
        control.ssthresh = number(vector, "initial_ssthresh_packets");
    long lost[MOST_LOST], sent = 0, in_flight = 0, recovery_ends = 0;
    size_t losses = numbers(vector, "lost_packets", lost), next_lost = 0, missing = 0;
    size_t first = 0, last = 0, count = 0, reductions = 0;
    double now = 0, link_is_free = 0, reduced[MOST_LOST];
    while (now <= duration) {
        if (count == MOST) fail("too many samples", name);
        samples[count].time = now;
        samples[count].cwnd = control.cwnd;
        samples[count++].ssthresh = control.ssthresh;
        for (; in_flight < (long)control.cwnd; in_flight++) {
            sent++;
            link_is_free = (link_is_free > now ? link_is_free : now) + service;
            if (next_lost < losses && lost[next_lost] == sent) {
                next_lost++;
                continue;
            }
            if (last == MOST) fail("too many packets", name);
            acks[last].time = link_is_free + rtt;
            acks[last++].packet = sent;
        }
        if (first == last) fail("all packets are lost", name);
        now = acks[first].time;
        long acked = acks[first++].packet;
        in_flight--;
        for (; missing < next_lost && lost[missing] + 3 <= acked; missing++) {
            in_flight--;
            if (lost[missing] > recovery_ends) {
                recovery_ends = sent;
                reduced[reductions++] = now;
                on_loss(&control);
            }
        }
        if (acked > recovery_ends) on_ack(&control);
    }
    printf("\"%s\": {\"samples\": {\"cwnd_packets\": [", name);
    for (size_t i = 0; i < count; i++)
        printf("%s[%.12g, %.12g]", i ? ", " : "", samples[i].time, samples[i].cwnd);
    printf("], \"ssthresh_packets\": [");
    for (size_t i = 0; i < count; i++)
        printf("%s[%.12g, %.12g]", i ? ", " : "", samples[i].time, samples[i].ssthresh);
    printf("]}, \"events\": {\"reduction\": [");
    for (size_t i = 0; i < reductions; i++) printf("%s%.12g", i ? ", " : "", reduced[i]);
    printf("]}}");
}

int main(int argc, char **argv) {
    static const char *const names[] = {
        "reno.slow-start", "reno.congestion-avoidance", "reno.halving"};
    static char vector[1 << 16], path[4096];
    printf("{\"implementation\": \"my stack in C 1.0\", \"results\": {");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s.json", argc > 1 ? argv[1] : "vectors", names[i]);
        FILE *file = fopen(path, "r");
        if (!file) fail("cannot be read", path);
        vector[fread(vector, 1, sizeof vector - 1, file)] = '\0';
        fclose(file);
        printf("%s", i ? ", " : "");
        run(names[i], vector, argc > 2 ? strtod(argv[2], NULL) : 0.5);
    }
    printf("}}\n");
    return 0;
}
