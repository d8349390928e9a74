"""Goals that tailroom misses; docs/validation/kernel.md tells what is known of the reasons."""

MISSED: dict[str, tuple[str, ...]] = {
    "alone-bbr1-50-mbit-100-packets": (
        "loss (%)",
        "mean queueing delay (ms)",
    ),
    "alone-bbr1-50-mbit-625-packets": ("mean queueing delay (ms)",),
    "alone-reno-200-mbit-100-packets": ("utilization",),
    "alone-reno-50-mbit-20-packets": ("utilization",),
    "cubic-beside-bbr-4-bdp": ("loss (%)",),
    "cubic-beside-bbr-8-bdp": ("loss (%)",),
    "download-cubic-1-bdp": ("loss (%)",),
    "four-cubic-beside-four-bbr-0.25-bdp": ("share of cubic",),
    "four-cubic-beside-four-bbr-1-bdp": (
        "timeouts",
        "share of cubic",
    ),
    "fq_codel-bbr1": (
        "loss (%)",
        "mean queueing delay (ms)",
    ),
    "joining-cubic": ("loss (%)",),
    "joining-reno": ("loss (%)",),
    "lossy-bbr1-1-percent": ("mean queueing delay (ms)",),
    "lossy-bbr1-15-percent": ("utilization",),
    "lossy-bbr1-3-percent": ("mean queueing delay (ms)",),
    "lossy-cubic-1-percent": ("utilization",),
    "lossy-reno-1-percent": ("utilization",),
    "lossy-reno-15-percent": ("loss probes",),
    "many-10-bbr1-0.1-bdp": ("Jain's index",),
    "many-10-bbr1-0.25-bdp": ("Jain's index",),
    "many-10-cubic-0.1-bdp": ("utilization",),
    "many-4-cubic-0.25-bdp": ("loss (%)",),
    "many-4-cubic-1-bdp": ("loss (%)",),
    "requests-10-packets-5-percent": ("p90 of completion (ms)",),
    "requests-100-packets-0.5-percent": ("p95 of completion (ms)",),
    "requests-100-packets-5-percent": (
        "p90 of completion (ms)",
        "p95 of completion (ms)",
    ),
    "requests-beside-1-cubic-1-bdp": (
        "loss (%)",
        "p95 of completion (ms)",
    ),
    "requests-beside-1-cubic-20-packets": (
        "loss (%)",
        "p90 of completion (ms)",
        "utilization",
    ),
    "requests-beside-2-cubic-1-bdp": (
        "p90 of completion (ms)",
        "p95 of completion (ms)",
    ),
    "requests-beside-2-cubic-20-packets": (
        "loss (%)",
        "utilization",
    ),
    "two-rtts-cubic-2-flows": ("loss (%)",),
    "two-way-cubic-drop_tail": (
        "loss (%)",
        "utilization of bottleneck",
        "utilization of back",
    ),
}
