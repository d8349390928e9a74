//! The fast path leaves every flow, link and event in the state in which the general path leaves
//! them, at any time.

use proptest::prelude::*;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::Time;

use crate::support::random_cases::config;
use crate::support::random_networks;

/// How to replay a failing case.
const REPLAY: &str = "the case is kept in tests/engine/fast_path.regressions; \
                      `cargo test -p tailroom-engine --test engine fast_path::` runs it again first";

/// The first place at which the texts differ, with some of the text before it.
fn difference(fast: &str, general: &str) -> String {
    let pairs = fast.bytes().zip(general.bytes());
    let place = pairs.take_while(|(fast, general)| fast == general).count();
    let around = |text: &str| {
        let bytes = &text.as_bytes()[place.saturating_sub(300)..text.len().min(place + 60)];
        String::from_utf8_lossy(bytes).into_owned()
    };
    format!("{}\n|\n{}", around(fast), around(general))
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn both_paths_give_the_same_state_at_all_times(
        network in random_networks::network(),
        steps in prop::collection::vec(0_u64..60_000_000_000, 1..40),
    ) {
        let mut fast = Simulation::new(&network);
        let mut general = Simulation::new(&network).without_fast_path();
        let mut time = 0;
        for step in steps {
            // Mostly short: a step of a packet or less is as likely as one of a round trip.
            time += if step % 3 == 0 { step } else { step / 1_000 };
            let until = Time::from_picoseconds(time);
            let (one, other) = (fast.run_until(until), general.run_until(until));
            prop_assert_eq!(format!("{:?}", one), format!("{:?}", other));
            let (one, other) = (fast.state_text(), general.state_text());
            prop_assert!(
                one == other,
                "seed {}, at {time} ps; {REPLAY}; fast | general:\n{}",
                network.seed,
                difference(&one, &other)
            );
        }
        let (one, other) = (format!("{:?}", fast.finish()), format!("{:?}", general.finish()));
        prop_assert!(one == other, "seed {}; {REPLAY}; {}", network.seed, difference(&one, &other));
    }
}
