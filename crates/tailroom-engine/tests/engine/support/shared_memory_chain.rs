//! Exact loss of queues that share memory: Poisson arrivals, exponential service at rate 1, a place
//! per packet, which a packet leaves when its service ends.

/// Which arrivals find a place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    CompleteSharing,
    CompletePartitioning,
    /// With this alpha.
    DynamicThreshold(f64),
    LongestQueueDrop,
}

/// The stationary loss of each queue, and the mean number of occupied places.
#[derive(Clone, Debug)]
pub(crate) struct Stationary {
    pub(crate) loss: Vec<f64>,
    pub(crate) occupied: f64,
}

/// A transition: the number of the state that it leads to, its rate, and the queue that loses a
/// packet in it, if one does.
type Transition = (usize, f64, Option<usize>);

struct Chain {
    places: usize,
    rates: Vec<f64>,
    rule: Rule,
}

impl Chain {
    /// States are numbered as digits to the base of one more than the places.
    fn number(&self, state: &[usize]) -> usize {
        state.iter().fold(0, |number, queue| number * (self.places + 1) + queue)
    }

    fn state(&self, mut number: usize) -> Vec<usize> {
        let mut state = vec![0; self.rates.len()];
        for queue in state.iter_mut().rev() {
            *queue = number % (self.places + 1);
            number /= self.places + 1;
        }
        state
    }

    fn transitions(&self, state: &[usize]) -> Vec<Transition> {
        let moved = |changes: &[(usize, isize)]| {
            let mut next = state.to_vec();
            for &(queue, change) in changes {
                next[queue] = next[queue].checked_add_signed(change).expect("a packet");
            }
            self.number(&next)
        };
        let mut all = Vec::new();
        let occupied: usize = state.iter().sum();
        for (queue, &rate) in self.rates.iter().enumerate() {
            if state[queue] > 0 {
                all.push((moved(&[(queue, -1)]), 1.0, None));
            }
            let is_admitted = match self.rule {
                Rule::CompleteSharing | Rule::LongestQueueDrop => true,
                Rule::CompletePartitioning => state[queue] < self.places / self.rates.len(),
                Rule::DynamicThreshold(alpha) => {
                    (state[queue] as f64) < alpha * (self.places - occupied) as f64
                }
            };
            if is_admitted && occupied < self.places {
                all.push((moved(&[(queue, 1)]), rate, None));
            } else if matches!(self.rule, Rule::LongestQueueDrop) {
                let length = |one: usize| state[one] + usize::from(one == queue);
                let most = (0..state.len()).map(length).max().expect("a queue");
                let longest: Vec<usize> =
                    (0..state.len()).filter(|&one| length(one) == most).collect();
                for &one in &longest {
                    let rate = rate / longest.len() as f64;
                    all.push((moved(&[(queue, 1), (one, -1)]), rate, Some(one)));
                }
            } else {
                all.push((self.number(state), rate, Some(queue)));
            }
        }
        all
    }
}

/// Solves the chain of queues with these arrival rates, by Gauss-Seidel sweeps over the states.
pub(crate) fn solve(places: usize, rates: &[f64], rule: Rule) -> Stationary {
    let chain = Chain { places, rates: rates.to_vec(), rule };
    let numbers = (0..(places + 1).pow(rates.len() as u32))
        .filter(|&number| chain.state(number).iter().sum::<usize>() <= places);
    let numbers: Vec<usize> = numbers.collect();
    let count = numbers.last().expect("the empty state") + 1;
    let (mut entering, mut leaving) = (vec![Vec::new(); count], vec![0.0; count]);
    let mut losses = vec![0.0; rates.len()];
    let mut losing = Vec::new();
    for &from in &numbers {
        for (to, rate, lost) in chain.transitions(&chain.state(from)) {
            if to != from {
                entering[to].push((from, rate));
                leaving[from] += rate;
            }
            losing.extend(lost.map(|queue| (from, queue, rate)));
        }
    }
    let mut shares = vec![0.0; count];
    for &number in &numbers {
        shares[number] = 1.0;
    }
    for sweep in 0_u32.. {
        let mut change = 0.0_f64;
        // Forth and back, as mass moves both ways.
        let order: Box<dyn Iterator<Item = &usize>> =
            if sweep % 2 == 0 { Box::new(numbers.iter()) } else { Box::new(numbers.iter().rev()) };
        for &state in order {
            let inflow: f64 = entering[state].iter().map(|(from, rate)| shares[*from] * rate).sum();
            let share = inflow / leaving[state];
            change = change.max((share - shares[state]).abs() / share.max(1e-30));
            shares[state] = share;
        }
        let sum: f64 = shares.iter().sum();
        for share in &mut shares {
            *share /= sum;
        }
        if change < 1e-13 || sweep > 200_000 {
            break;
        }
    }
    for (state, queue, rate) in losing {
        losses[queue] += shares[state] * rate;
    }
    let loss = losses.iter().zip(rates).map(|(loss, rate)| loss / rate).collect();
    let places_of = |number: usize| chain.state(number).iter().sum::<usize>() as f64;
    let occupied = numbers.iter().map(|&number| shares[number] * places_of(number)).sum();
    Stationary { loss, occupied }
}
