//! Planned tasks: ready, blocked, circular, and the critical path.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use model::{Task, TaskId, TaskStatus};

use crate::report::issues::{BlockedTask, CriticalPath, IssueReport, ReadyTask, StatusCount};
use crate::text::harmless;

/// Hours that a task without an estimate counts for.
const USUAL_HOURS: f64 = 4.0;

/// Fills everything about tasks; `complete` says whether these are all tasks.
pub(super) fn fill(report: &mut IssueReport, tasks: &[Task], complete: bool) {
    let graph = Graph::of(tasks);
    let mut by_status: BTreeMap<TaskStatus, u32> = BTreeMap::new();
    for task in tasks {
        *by_status.entry(task.status).or_default() += 1;
    }
    report.tasks = by_status
        .into_iter()
        .map(|(status, tasks)| StatusCount { status, tasks })
        .collect();
    let (order, in_circles) = graph.order();
    report.cycles = in_circles
        .iter()
        .map(|&index| tasks[index].id.to_string())
        .collect();
    let path = graph.longest(&order);
    report.critical_path = critical(tasks, &path);
    let on_path: HashSet<usize> = path.into_iter().collect();
    for (index, task) in tasks.iter().enumerate() {
        if task.status != TaskStatus::Open {
            continue;
        }
        let waiting = graph.waiting(task);
        if waiting.is_empty() {
            report.ready.push(ReadyTask {
                id: task.id.to_string(),
                title: harmless(&task.title, 160),
                priority: task.priority,
                estimated_hours: task.estimated_hours.filter(|hours| hours.is_finite()),
                issue_number: task.issue_number,
                unblocks: u32::try_from(graph.dependents[index].len()).unwrap_or(u32::MAX),
                on_critical_path: on_path.contains(&index),
            });
        } else {
            let hopeless = waiting.iter().any(|id| graph.is_hopeless(id, complete))
                || in_circles.contains(&index);
            report.blocked.push(BlockedTask {
                id: task.id.to_string(),
                title: harmless(&task.title, 160),
                waiting_for: waiting.iter().map(ToString::to_string).collect(),
                more_waiting_for: 0,
                hopeless,
            });
        }
    }
    report.ready.sort_by_key(|task| {
        (
            std::cmp::Reverse(task.priority),
            !task.on_critical_path,
            std::cmp::Reverse(task.unblocks),
        )
    });
    report
        .blocked
        .sort_by_key(|task| (!task.hopeless, task.waiting_for.len()));
}

fn is_open(status: TaskStatus) -> bool {
    match status {
        TaskStatus::Open | TaskStatus::InProgress => true,
        TaskStatus::Done | TaskStatus::Cancelled => false,
    }
}

struct Graph<'a> {
    tasks: &'a [Task],
    positions: HashMap<&'a str, usize>,
    /// Open tasks that wait for a task.
    dependents: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn of(tasks: &'a [Task]) -> Self {
        let positions: HashMap<&str, usize> = tasks
            .iter()
            .enumerate()
            .map(|(index, task)| (task.id.as_str(), index))
            .collect();
        let mut dependents = vec![Vec::new(); tasks.len()];
        for (index, task) in tasks
            .iter()
            .enumerate()
            .filter(|(_, task)| is_open(task.status))
        {
            let needed: HashSet<&str> = task.depends_on.iter().map(TaskId::as_str).collect();
            for &needed in needed.iter().filter_map(|id| positions.get(id)) {
                dependents[needed].push(index);
            }
        }
        Self {
            tasks,
            positions,
            dependents,
        }
    }

    fn get(&self, id: &str) -> Option<&Task> {
        self.positions
            .get(id)
            .and_then(|&index| self.tasks.get(index))
    }

    /// Returns the dependencies of a task that are not done.
    fn waiting(&self, task: &'a Task) -> Vec<&'a str> {
        let open = |id: &&str| {
            self.get(id)
                .is_none_or(|needed| needed.status != TaskStatus::Done)
        };
        task.depends_on
            .iter()
            .map(TaskId::as_str)
            .filter(open)
            .collect()
    }

    /// Cancelled, or not there. A task that was not read may be anything.
    fn is_hopeless(&self, id: &str, complete: bool) -> bool {
        self.get(id)
            .map_or(complete, |task| task.status == TaskStatus::Cancelled)
    }

    /// Returns the open tasks, each after those it waits for, and the tasks in or behind circles.
    fn order(&self) -> (Vec<usize>, Vec<usize>) {
        let open: Vec<usize> = (0..self.tasks.len())
            .filter(|&index| is_open(self.tasks[index].status))
            .collect();
        let mut missing = vec![0_usize; self.tasks.len()];
        for &index in &open {
            for &dependent in &self.dependents[index] {
                missing[dependent] += 1;
            }
        }
        let mut queue: VecDeque<usize> = open
            .iter()
            .copied()
            .filter(|&index| missing[index] == 0)
            .collect();
        let mut order = Vec::with_capacity(open.len());
        while let Some(index) = queue.pop_front() {
            order.push(index);
            for &dependent in &self.dependents[index] {
                missing[dependent] -= 1;
                if missing[dependent] == 0 {
                    queue.push_back(dependent);
                }
            }
        }
        let in_circles = open
            .into_iter()
            .filter(|&index| missing[index] > 0)
            .collect();
        (order, in_circles)
    }

    /// Returns the chain with the most hours.
    fn longest(&self, order: &[usize]) -> Vec<usize> {
        let mut total: HashMap<usize, (f64, Option<usize>)> = HashMap::new();
        for &index in order {
            let own = hours(&self.tasks[index]);
            let (so_far, _) = *total.entry(index).or_insert((own, None));
            for &dependent in &self.dependents[index] {
                let reached = so_far + hours(&self.tasks[dependent]);
                let best = total.entry(dependent).or_insert((0.0, None));
                if reached > best.0 {
                    *best = (reached, Some(index));
                }
            }
        }
        let end = order.iter().copied().max_by(|a, b| {
            let hours = |index: &usize| total.get(index).map_or(0.0, |(hours, _)| *hours);
            hours(a).total_cmp(&hours(b)).then(b.cmp(a))
        });
        let mut path: Vec<usize> = std::iter::successors(end, |index| {
            total.get(index).and_then(|(_, before)| *before)
        })
        .collect();
        path.reverse();
        path
    }
}

fn hours(task: &Task) -> f64 {
    task.estimated_hours
        .filter(|hours| hours.is_finite() && *hours >= 0.0)
        .unwrap_or(USUAL_HOURS)
}

fn critical(tasks: &[Task], path: &[usize]) -> Option<CriticalPath> {
    // A single task is not a chain.
    if path.len() < 2 {
        return None;
    }
    let unestimated = path
        .iter()
        .filter(|&&index| tasks[index].estimated_hours.is_none())
        .count();
    Some(CriticalPath {
        tasks: path
            .iter()
            .map(|&index| tasks[index].id.to_string())
            .collect(),
        more_tasks: 0,
        hours: path.iter().map(|&index| hours(&tasks[index])).sum(),
        unestimated: u32::try_from(unestimated).unwrap_or(u32::MAX),
    })
}
