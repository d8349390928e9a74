# Barman et al. 2004, Figure 3, for ns-2: ten HighSpeed TCP flows, 1 Gbit/s, 1000-byte packets.
# ns dumbbell.tcl SECONDS prints the packets that left the bottleneck.
remove-all-packet-headers
add-packet-header Common IP TCP Flags
set ns [new Simulator]
set seconds [lindex $argv 0]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 1000Mb 50ms DropTail
$ns queue-limit $left $right 1250
$ns queue-limit $right $left 1000000
set monitor [$ns monitor-queue $left $right ""]
Agent/TCP set packetSize_ 960
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set window_ 1000000
Agent/TCP set max_ssthresh_ 0
for {set i 0} {$i < 10} {incr i} {
    set access [expr {(115.5 + $i) / 4.0 - 25.0}]
    set source [$ns node]
    set sink [$ns node]
    foreach {one other} [list $source $left $right $sink] {
        $ns duplex-link $one $other 10000Mb ${access}ms DropTail
        $ns queue-limit $one $other 1000000
        $ns queue-limit $other $one 1000000
    }
    set tcp [new Agent/TCP/Sack1]
    $tcp set windowOption_ 8
    $ns attach-agent $source $tcp
    set receiver [new Agent/TCPSink/Sack1]
    $ns attach-agent $sink $receiver
    $ns connect $tcp $receiver
    set application [new Application/FTP]
    $application attach-agent $tcp
    $ns at $i "$application start"
}
$ns at $seconds {puts [$monitor set pdepartures_]; exit 0}
$ns run
