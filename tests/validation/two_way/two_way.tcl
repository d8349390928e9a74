# Two-way traffic over one pair of links in ns-2.35, and where the propagation outside them lies.
#
#   senders a -access- R1 ==== forward ====> R2 -access- receivers a
#   receivers b -access- R1 <==== back ===== R2 -access- senders b
#
# Written for tailroom's validation; licence as the rest of the repository. `ns two_way.tcl key=value ...`
# prints one RES line. Every access link runs at 10 Gbit/s and holds 1e7 packets.
#   side   fraction of the private propagation on the senders' side of the links, 0 to 1
#   private_ms   two-way propagation outside the two links, each flow
#   buffer_*_pkts   ns-2's queue-limit: packets in the system, the one in transmission included
array set P {kind sack n_a 1 n_b 1 forward_mbps 10 back_mbps 10 delay_ms 10 private_ms 60 side 1
    buffer_forward_pkts 20 buffer_back_pkts 20 overhead_us 0 start_a 0 start_b 0.5 spread_s 0 t0_s 50 t1_s 250 seed 1}
foreach a $argv {
    if {![regexp {^([A-Za-z0-9_]+)=(.*)$} $a -> k v] || ![info exists P($k)]} { puts stderr "bad arg $a"; exit 2 }
    set P($k) $v
}
remove-all-packet-headers
add-packet-header Common IP TCP Flags
set ns [new Simulator]
ns-random $P(seed)
set U [new RandomVariable/Uniform]
set r [new RNG]; $r seed [expr {$P(seed)+1000}]; $U use-rng $r
# 960 + 40 bytes: data packets of 1000 bytes; ACKs of 40.
Agent/TCP set packetSize_ 960
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set window_ 1000000
Agent/TCP set max_ssthresh_ 0
Agent/TCP set overhead_ [expr {$P(overhead_us)*1e-6}]
set R1 [$ns node]; set R2 [$ns node]
$ns simplex-link $R1 $R2 $P(forward_mbps)Mb $P(delay_ms)ms DropTail
$ns simplex-link $R2 $R1 $P(back_mbps)Mb $P(delay_ms)ms DropTail
$ns queue-limit $R1 $R2 $P(buffer_forward_pkts)
$ns queue-limit $R2 $R1 $P(buffer_back_pkts)
set qm(forward) [$ns monitor-queue $R1 $R2 ""]
set qm(back) [$ns monitor-queue $R2 $R1 ""]
proc access {node router one_way_ms} {
    global ns
    $ns duplex-link $node $router 10000Mb ${one_way_ms}ms DropTail
    foreach {x y} [list $node $router $router $node] { $ns queue-limit $x $y 10000000 }
}
set tcps(a) {}; set tcps(b) {}; set fid 0
foreach {g n near far} [list a $P(n_a) $R1 $R2 b $P(n_b) $R2 $R1] {
    for {set i 0} {$i < $n} {incr i} {
        set s [$ns node]; set k [$ns node]
        # Each access link is crossed once on the way there and once on the way back.
        access $s $near [expr {$P(private_ms)/2.0*$P(side)}]
        access $k $far [expr {$P(private_ms)/2.0*(1-$P(side))}]
        if {$P(kind) eq "sack"} {
            set t [new Agent/TCP/Sack1]; set q [new Agent/TCPSink/Sack1]
        } else {
            set t [new Agent/TCP/Newreno]; set q [new Agent/TCPSink]
        }
        $t set fid_ [incr fid]
        $ns attach-agent $s $t; $ns attach-agent $k $q; $ns connect $t $q
        set f [new Application/FTP]; $f attach-agent $t
        $ns at [expr {$P(start_$g) + ($P(spread_s) > 0 ? [$U value]*$P(spread_s) : 0)}] "$f start"
        lappend tcps($g) $t
    }
}
proc snap {w} {
    global S qm tcps P
    foreach l {forward back} {
        set i [$qm($l) get-pkts-integrator]
        $i newpoint [[Simulator instance] now] [$qm($l) set pkts_]
        set S($w,$l) [list [$qm($l) set parrivals_] [$qm($l) set pdrops_] [$i set sum_]]
    }
    foreach g {a b} {
        set S($w,$g) {}
        foreach t $tcps($g) { lappend S($w,$g) [$t set ack_] [$t set ncwndcuts_] }
    }
}
proc fin {} {
    global S P
    set T [expr {double($P(t1_s)-$P(t0_s))}]
    set out "RES"
    foreach k {kind n_a n_b forward_mbps back_mbps delay_ms private_ms side buffer_forward_pkts buffer_back_pkts overhead_us t0_s t1_s seed} {
        append out " $k=$P($k)"
    }
    foreach {g l rate} [list a forward $P(forward_mbps) b back $P(back_mbps)] {
        set advance 0; set cuts 0
        foreach {a c} $S(b,$g) {a0 c0} $S(a,$g) { set advance [expr {$advance+$a-$a0}]; set cuts [expr {$cuts+$c-$c0}] }
        foreach {ar d in} $S(b,$l) {ar0 d0 in0} $S(a,$l) {}
        append out [format " share_%s=%.5f cuts_%s=%d drops_%s=%d arrivals_%s=%d queue_%s=%.3f" \
            $g [expr {$advance*8000.0/($T*$rate*1e6)}] $g $cuts $g [expr {$d-$d0}] $g [expr {$ar-$ar0}] $g [expr {($in-$in0)/$T}]]
    }
    puts $out
    exit 0
}
$ns at $P(t0_s) "snap a"
$ns at $P(t1_s) "snap b; fin"
$ns run
