//! Random schedules: agents, people and faults do everything at once; afterwards the invariants hold.
//!
//! A seed gives a list of actions, always the same. By default seeds are tried for 20 s, from one that is printed.
//! `SCHEDULE_SECONDS=7200` goes on for so long, `SCHEDULE_SEED=7` tries this seed, and `SCHEDULE_ONLY=3,5` only these of
//! its actions. The actions of a seed that fails are printed, then as many of them are left out as can be.

mod actions;
mod checks;
mod clock;
mod simulation;
mod web;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime};

use actions::{Action, actions_of};
use simulation::{Counts, Simulation};

const SECONDS: u64 = 20;
/// How long a failing list is made shorter.
const SHRINKING: Duration = Duration::from_mins(4);

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Which actions of the seed are wanted; none: all.
fn only() -> Option<Vec<usize>> {
    let numbers = std::env::var("SCHEDULE_ONLY").ok()?;
    Some(
        numbers
            .split(',')
            .map(|number| number.trim().parse().unwrap())
            .collect(),
    )
}

/// Does what the list says in a place of its own; an error is the violation.
fn run(seed: u64, actions: &[Action]) -> Result<Counts, String> {
    let whole = AssertUnwindSafe(|| {
        let mut simulation = Simulation::new(seed);
        let mut rest = actions;
        while let Some(first) = rest.first() {
            let end = rest.iter().position(|action| action.burst != first.burst);
            let (burst, later) = rest.split_at(end.unwrap_or(rest.len()));
            simulation.everybody_is_there();
            for action in burst {
                simulation.perform(action);
            }
            simulation.settle();
            checks::hold(&simulation);
            rest = later;
        }
        // Whatever they have not committed must outlive them.
        simulation.everybody_stops();
        checks::hold(&simulation);
        simulation.counts()
    });
    catch_unwind(whole).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        text.unwrap_or_else(|| "panicked".to_owned())
    })
}

/// Leaves out halves, quarters, eighths … as long as what is left fails too.
fn shrink(seed: u64, mut failing: Vec<Action>) -> Vec<Action> {
    let began = Instant::now();
    let mut size = failing.len().div_ceil(2);
    while size > 0 && began.elapsed() < SHRINKING {
        let mut start = 0;
        while start < failing.len() && began.elapsed() < SHRINKING {
            let end = (start + size).min(failing.len());
            let less = [&failing[..start], &failing[end..]].concat();
            if !less.is_empty() && run(seed, &less).is_err() {
                failing = less;
            } else {
                start = end;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    failing
}

fn listed(actions: &[Action]) -> String {
    let lines: Vec<String> = actions.iter().map(Action::to_string).collect();
    lines.join("\n") + "\n"
}

#[test]
fn everything_at_once_with_faults() {
    let began = Instant::now();
    let wanted = number_of("SCHEDULE_SEED");
    let seconds = number_of("SCHEDULE_SECONDS");
    let first = wanted.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.unwrap().as_secs() % 1_000_000
    });
    // One seed alone is a replay.
    let alone = wanted.is_some() && seconds.is_none();
    let time = Duration::from_secs(seconds.unwrap_or(SECONDS));
    let mut total = Counts::default();
    let (mut seed, mut schedules) = (first, 0);
    while schedules == 0 || !alone && began.elapsed() < time {
        eprintln!("SCHEDULE_SEED={seed}");
        let mut actions = actions_of(seed);
        if let Some(only) = only() {
            actions.retain(|action| only.contains(&action.number));
        }
        match run(seed, &actions) {
            Ok(counts) => total.add(&counts),
            Err(violation) => {
                eprintln!(
                    "SCHEDULE_SEED={seed} fails: {violation}\n{}",
                    listed(&actions)
                );
                let shortest = shrink(seed, actions);
                let numbers: Vec<String> = shortest
                    .iter()
                    .map(|action| action.number.to_string())
                    .collect();
                panic!(
                    "SCHEDULE_SEED={seed} SCHEDULE_ONLY={}\n{}{violation}",
                    numbers.join(","),
                    listed(&shortest),
                );
            }
        }
        schedules += 1;
        seed += 1;
    }
    eprintln!("{schedules} schedules from seed {first}: {total:?}");
}

#[test]
fn a_seed_gives_the_same_actions_again() {
    assert_eq!(listed(&actions_of(7)), listed(&actions_of(7)));
    assert_ne!(listed(&actions_of(7)), listed(&actions_of(8)));
}
