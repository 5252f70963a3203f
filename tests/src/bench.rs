//! What benchmarks measure with: whole runs of two things in turn, and their percentiles.

use std::time::{Duration, Instant};

/// Times of one thing, sorted.
#[derive(Debug)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn new(times: impl IntoIterator<Item = Duration>) -> Self {
        let mut times: Vec<Duration> = times.into_iter().collect();
        times.sort();
        Self(times)
    }

    /// Measures something that often.
    pub fn of(rounds: usize, work: impl Fn()) -> Self {
        Self::new((0..rounds).map(|_| time(&work)))
    }

    /// Measures two things in turn, so that the machine's other work falls on both.
    pub fn in_turn(rounds: usize, first: impl Fn(), second: impl Fn()) -> [Self; 2] {
        let times = (0..rounds).map(|_| (time(&first), time(&second)));
        let (first, second): (Vec<_>, Vec<_>) = times.unzip();
        [Self::new(first), Self::new(second)]
    }

    pub fn median(&self) -> Duration {
        self.percentile(50)
    }

    pub fn percentile(&self, percent: usize) -> Duration {
        self.0[(self.0.len() * percent / 100).min(self.0.len() - 1)]
    }
}

fn time(work: impl Fn()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
