//! `HighSpeed` TCP (RFC 3649) in integers: every level has a window from which it holds, grows by
//! its number per window, and shrinks by its factor.

/// The levels, the first of which is Reno.
pub struct WindowLaw {
    levels: Vec<Level>,
}

struct Level {
    /// In packets.
    from_window: u32,
    /// The part of the window that a loss takes away.
    decrease: f32,
}

/// Windows above this one grow no faster.
const LARGEST_WINDOW: u32 = 120_000;

impl WindowLaw {
    pub fn new() -> Self {
        // RFC 3649, section 5: b(w), and a(w) with p(w) = 0.078 / w^1.2.
        let decrease = |window: f64| {
            let share = (window.ln() - 38f64.ln()) / (83_000f64.ln() - 38f64.ln());
            ((0.1 - 0.5) * share + 0.5).clamp(0.1, 0.5)
        };
        let increase = |window: f64| {
            window * window * (0.078 / window.powf(1.2)) * 2.0 * decrease(window)
                / (2.0 - decrease(window))
        };
        let mut levels = vec![Level { from_window: 0, decrease: 0.5 }];
        let mut window = 38u32;
        loop {
            let next_increase = levels.len() as f64 + 1.0;
            while increase(f64::from(window)) < next_increase && window < LARGEST_WINDOW {
                window += 1;
            }
            if window >= LARGEST_WINDOW {
                return Self { levels };
            }
            let decrease = decrease(f64::from(window)) as f32;
            levels.push(Level { from_window: window, decrease });
        }
    }

    /// Returns the window at which a flow leaves its level for the next one.
    #[inline(always)]
    pub fn next_window(&self, level: u32) -> u32 {
        self.levels.get(level as usize).map_or(u32::MAX, |next| next.from_window)
    }

    /// Returns the part of the window that a loss takes away.
    #[inline(always)]
    pub fn decrease(&self, level: u32) -> f32 {
        self.levels[level as usize - 1].decrease
    }

    /// Returns the highest level, up to the given one, that holds for the window.
    pub fn level_at_most(&self, mut level: u32, window: u32) -> u32 {
        while level > 1 && window < self.levels[level as usize - 1].from_window {
            level -= 1;
        }
        level
    }
}
