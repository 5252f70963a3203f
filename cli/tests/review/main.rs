//! The loop from review to pull request on real git, real tmux and the real servers, with scripted agents.

#[cfg(test)]
mod activity;
#[cfg(test)]
mod base_branches;
#[cfg(test)]
mod conflicting;
#[cfg(test)]
mod dashboard;
#[cfg(test)]
mod delivery;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod fresh_standings;
#[cfg(test)]
mod github;
#[cfg(test)]
mod github_issues;
#[cfg(test)]
mod github_refusals;
#[cfg(test)]
mod github_standings;
#[cfg(test)]
mod hints;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod merging;
#[cfg(test)]
mod merging_at_once;
#[cfg(test)]
mod merging_into_checkouts;
#[cfg(test)]
mod overruled;
#[cfg(test)]
mod proof;
#[cfg(test)]
mod published_once;
#[cfg(test)]
mod publishing;
#[cfg(test)]
mod publishing_refused;
#[cfg(test)]
mod real_claude;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod removing;
#[cfg(test)]
mod restoring;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod schedules;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod sent_back;
#[cfg(test)]
mod settled;
#[cfg(test)]
mod stopped_published;
#[cfg(test)]
mod terminals;
#[cfg(test)]
mod updating;
