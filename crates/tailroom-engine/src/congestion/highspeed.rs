//! HighSpeed TCP (RFC 3649): the increase a(w) and the decrease b(w) depend on the window.

use libm::{exp, log};

use super::growth::GrowthCell;
use super::{AckEvent, CongestionEvent, CongestionKind, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::{BadParameter, check};

/// Parameters of HighSpeed TCP; defaults as in RFC 3649 sec. 5 and 7.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HighspeedParams {
    /// Largest window at which the control behaves as standard TCP, in packets (RFC 3649: 38).
    #[schemars(range(min = 1.0))]
    pub low_window: f64,
    /// Window of the response function at the loss fraction `high_p`, in packets (RFC 3649:
    /// 83000).
    #[schemars(range(min = 1.0))]
    pub high_window: f64,
    /// Loss fraction at `low_window` (RFC 3649: 1e-3; ns-2 computes 1.5 / 38^2 = 1.03878e-3).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub low_p: f64,
    /// Loss fraction at `high_window` (RFC 3649: 1e-7).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub high_p: f64,
    /// Decrease factor b at `high_window` (RFC 3649: 0.1).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 0.5))]
    pub high_decrease: f64,
    /// How a(w) and b(w) are computed.
    pub increase: IncreaseRule,
    /// Halve the window on a loss in slow start, as ns-2 does, instead of reducing it by b(w).
    pub halve_in_slow_start: bool,
}

/// How a(w) and b(w) are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(rename_all = "snake_case")]
pub enum IncreaseRule {
    /// The formulas of RFC 3649 sec. 7 at the current window.
    Continuous,
    /// The published table (RFC 3649 appendix B): the row with the largest window that does not
    /// exceed the current window. The table has its own parameters (38, 83000, 1e-3, 1e-7, 0.1).
    Table,
    /// The same table as Linux applies it (`net/ipv4/tcp_highspeed.c`): a row applies *up to* its
    /// window, so that above `low_window` a(w) is larger by one and b(w) is that of the next row.
    /// The row of 94717 packets is missing, so a(w) stays at 72 above 89053 packets. b(w) is
    /// rounded down to a multiple of 1/256.
    LinuxTable,
    /// The same table as ns-3 applies it (`tcp-highspeed.cc`): a row applies up to its window, as
    /// in Linux, but no row is missing, and b(w) has two decimals, as published.
    Ns3Table,
}

impl Default for HighspeedParams {
    fn default() -> Self {
        HighspeedParams {
            low_window: 38.0,
            high_window: 83_000.0,
            low_p: 1e-3,
            high_p: 1e-7,
            high_decrease: 0.1,
            increase: IncreaseRule::Continuous,
            halve_in_slow_start: false,
        }
    }
}

impl HighspeedParams {
    /// Position of `window` between the two anchors on the logarithmic axis: 0 at `low_window`.
    fn position(&self, window: f64) -> f64 {
        log(window / self.low_window) / log(self.high_window / self.low_window)
    }

    /// The decrease factor b(w) (RFC 3649 sec. 7); 0.5 up to `low_window`.
    pub fn decrease(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 0.5;
        }
        // Far above high_window the line would become negative, but congestion must reduce the
        // window.
        ((self.high_decrease - 0.5) * self.position(window) + 0.5).max(0.01)
    }

    /// The loss fraction p(w) at which the response function gives `window` (RFC 3649 sec. 5).
    pub fn loss_fraction(&self, window: f64) -> f64 {
        exp(self.position(window) * log(self.high_p / self.low_p) + log(self.low_p))
    }

    /// The increase a(w) in packets per round trip (RFC 3649 sec. 7); 1 up to `low_window`.
    pub fn increase(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 1.0;
        }
        let decrease = self.decrease(window);
        // The formula is continuous at low_window only if low_p is 1.5 / low_window^2. The bound
        // keeps the growth at least as fast as that of Reno.
        (window * window * self.loss_fraction(window) * 2.0 * decrease / (2.0 - decrease)).max(1.0)
    }
}

impl ControlParameters for HighspeedParams {
    fn validate(&self) -> Result<(), BadParameter> {
        let above_low = format!("more than low_window, {}", self.low_window);
        check("high_window", self.high_window, self.high_window > self.low_window, &above_low)?;
        let below_low = format!("less than low_p, {}", self.low_p);
        check("high_p", self.high_p, self.high_p < self.low_p, &below_low)
    }
}

/// One row of RFC 3649 appendix B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableRow {
    /// The window of the row, in packets. Whether the row applies from or up to this window
    /// depends on the [`IncreaseRule`].
    pub window: f64,
    /// Increase a(w), in packets per round trip.
    pub increase: f64,
    /// Decrease factor b(w); two decimals in the published table.
    pub decrease: f64,
}

/// Denominator of Linux's b(w) (`hstcp_aimd_vals`: "fixed-point MD scaled <<8").
const LINUX_DECREASE_UNIT: f64 = 256.0;

/// The table of Linux: the last row is missing, and b(w) is a multiple of 1/256.
fn linux_table() -> Vec<TableRow> {
    let params = HighspeedParams::default();
    let mut rows = published_table();
    rows.pop();
    for row in &mut rows {
        let parts = libm::floor(LINUX_DECREASE_UNIT * params.decrease(row.window));
        row.decrease = parts / LINUX_DECREASE_UNIT;
    }
    rows
}

/// The table of RFC 3649 appendix B, by the rule that generated it: a new row starts where the
/// simplified a(w) = w^2 * 2b / ((2-b) * w^1.2 * 12.8) exceeds that of the previous row by more
/// than 1.
pub fn published_table() -> Vec<TableRow> {
    let params = HighspeedParams::default();
    let mut rows = vec![TableRow { window: 38.0, increase: 1.0, decrease: 0.5 }];
    let mut last_increase = 1.0;
    for window in 39..=100_000 {
        let window = f64::from(window);
        let decrease = params.decrease(window);
        let loss_fraction = 1.0 / (libm::pow(window, 1.2) * 12.8); // sec. 7: p = 0.078 / w^1.2
        let increase = window * window * 2.0 * decrease / (2.0 - decrease) * loss_fraction;
        if increase > last_increase + 1.0 {
            rows.push(TableRow {
                window,
                increase: libm::floor(increase),
                decrease: libm::round(decrease * 100.0) / 100.0,
            });
            last_increase = increase;
        }
    }
    rows
}

/// The state of HighSpeed TCP for one flow.
///
/// a(w) needs two logarithms, so it is evaluated only at the edges of cells that are 2 % of the
/// window wide, and interpolated linearly inside a cell. The error is below 1e-4 (the chord of
/// w^0.8).
#[derive(Clone, Debug)]
pub struct Highspeed {
    cell: GrowthCell,
    law: Box<Law>,
}

/// The part of the state that is read only at the edge of a cell.
#[derive(Clone, Debug)]
struct Law {
    params: HighspeedParams,
    table: Vec<TableRow>,
}

const CELL_RATIO: f64 = 1.02;
/// While a(w) is 1, cells are narrower: the error of the chord across the kink is a fifth of the
/// width.
const FLAT_CELL_RATIO: f64 = 1.002;

impl Highspeed {
    /// Creates the control in its initial state.
    pub fn new(params: &HighspeedParams) -> Self {
        let table = match params.increase {
            IncreaseRule::Continuous => Vec::new(),
            IncreaseRule::Table | IncreaseRule::Ns3Table => published_table(),
            IncreaseRule::LinuxTable => linux_table(),
        };
        Highspeed { cell: GrowthCell::EMPTY, law: Box::new(Law { params: params.clone(), table }) }
    }

    /// The increase a(w) in packets per round trip, interpolated in the cell that contains
    /// `window`.
    #[inline]
    pub fn increase(&mut self, window: f64) -> f64 {
        self.cell_at(window).increase_at(window)
    }

    #[inline]
    fn cell_at(&mut self, window: f64) -> &GrowthCell {
        if !self.cell.contains(window) {
            self.cell = self.law.cell(window);
        }
        &self.cell
    }
}

impl Law {
    /// The cell that contains `window`.
    #[cold]
    fn cell(&self, window: f64) -> GrowthCell {
        let params = &self.params;
        if let Some(row) = self.row_at(window) {
            let above = self.rows_up_to(window);
            return GrowthCell {
                from: above.checked_sub(1).map_or(0.0, |last| self.table[last].window),
                to: self.table.get(above).map_or(f64::INFINITY, |row| row.window),
                increase: row.increase,
                slope: 0.0,
            };
        }
        if window < params.low_window {
            return GrowthCell { to: params.low_window, ..GrowthCell::everywhere(1.0) };
        }
        let increase = params.increase(window);
        let to = window * if increase > 1.0 { CELL_RATIO } else { FLAT_CELL_RATIO };
        let slope = (params.increase(to) - increase) / (to - window);
        GrowthCell { from: window, to, increase, slope }
    }

    /// The number of rows whose window is at most `window`.
    fn rows_up_to(&self, window: f64) -> usize {
        self.table.partition_point(|row| row.window <= window)
    }

    /// The table row for `window`; `None` without a table, and below the first row of the
    /// published table.
    fn row_at(&self, window: f64) -> Option<&TableRow> {
        let above = self.rows_up_to(window);
        if matches!(self.params.increase, IncreaseRule::LinuxTable | IncreaseRule::Ns3Table) {
            return self.table.get(above).or(self.table.last());
        }
        self.table.get(above.checked_sub(1)?)
    }

    fn decrease(&self, window: f64) -> f64 {
        self.row_at(window).map_or_else(|| self.params.decrease(window), |row| row.decrease)
    }
}

impl WindowLaw for Highspeed {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        // RFC 3649 sec. 7: w <- w + a(w) / w per acknowledged packet.
        self.cell_at(cwnd_packets).grow(cwnd_packets, event.acked_packets)
    }

    fn growth_cell(&self) -> GrowthCell {
        self.cell
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        // RFC 3649 does not change the response of RFC 5681 to a timeout.
        let halves = event.kind == CongestionKind::Timeout
            || event.is_slow_start && self.law.params.halve_in_slow_start;
        let decrease = if halves { 0.5 } else { self.law.decrease(event.cwnd_packets) };
        (1.0 - decrease) * event.cwnd_packets
    }
}
