//! What can be done, and which of it a seed does.

use std::fmt;

/// How many coders there are; planners and reviewers come on top.
pub(super) const CODERS: u64 = 2;
const BURSTS: u64 = 2;
const ACTIONS_OF_A_BURST: u64 = 14;
/// The longest pause before an action, in milliseconds.
const MAX_PAUSE: u64 = 300;

/// One action of a schedule.
#[derive(Debug, Clone)]
pub(super) struct Action {
    pub(super) number: usize,
    pub(super) burst: u64,
    /// Milliseconds before it.
    pub(super) pause: u64,
    pub(super) act: Act,
}

impl fmt::Display for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            number,
            burst,
            pause,
            act,
        } = self;
        write!(
            formatter,
            "{number:>3}  burst {burst}  after {pause:>3} ms  {act:?}"
        )
    }
}

/// Numbers are those of coders, or of pull requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    // What people do.
    Launch(u64),
    Send(u64),
    /// Several send at once to a coder whose server has died: each may deliver for the others.
    Crowd(u64),
    Type(u64),
    Stop(u64),
    Resume(u64),
    Review(u64),
    Merge(u64),
    Close(u64),
    Reopen(u64),
    /// These are clicked in the dashboard.
    ClickStop(u64),
    ClickMerge(u64),
    Clean,
    List,
    Tasks,
    Sync,
    // What agents do.
    Commit(u64),
    Write(u64),
    RequestReview(u64),
    CreatePr(u64),
    RequestChanges(u64),
    Approve(u64),
    CreateTask,
    // What goes wrong.
    KillServer(u64),
    RestartServer(u64),
    KillAgent(u64),
    KillCommand,
    KillTmux,
    StallServer(u64),
    StallAgent(u64),
    StallCommand,
    SlowGit,
    HoldDatabase(u64),
    /// The clock is set, by hours.
    StepClock(i64),
    /// The next command fails at a step.
    FailingCommand(Failure, u64),
    /// A coder gets a new server, which fails at a step.
    FailingServer(u64),
}

/// How a step fails: `shared::fault` knows what these do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    Kill,
    Full,
    Broken,
    Busy,
    Refuse,
}

impl Failure {
    pub(super) fn action(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Full => "full",
            Self::Broken => "broken",
            Self::Busy => "busy",
            Self::Refuse => "refuse",
        }
    }
}

/// Numbers that depend on nothing but the seed (`SplitMix64`).
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below the bound.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }

    pub(super) fn failure(&mut self) -> Failure {
        match self.below(5) {
            0 => Failure::Kill,
            1 => Failure::Full,
            2 => Failure::Broken,
            3 => Failure::Busy,
            _ => Failure::Refuse,
        }
    }

    fn act(&mut self) -> Act {
        let coder = self.below(CODERS);
        let pull = 1 + self.below(3);
        match self.below(100) {
            0..10 => Act::Send(coder),
            10..12 => Act::StepClock(if self.below(2) == 0 { 25 } else { -1 }),
            12..14 => Act::Crowd(coder),
            14..17 => Act::Type(coder),
            17..20 => Act::Stop(coder),
            20..23 => Act::Resume(coder),
            23..24 => Act::ClickStop(coder),
            24..26 => Act::Launch(coder),
            26..27 => Act::Review(coder),
            27..30 => Act::Write(coder),
            30..34 => Act::Merge(pull),
            34..36 => Act::Close(pull),
            36..38 => Act::Reopen(pull),
            38..40 => Act::Clean,
            40..41 => Act::List,
            41..42 => Act::Tasks,
            42..43 => Act::Sync,
            43..44 => Act::ClickMerge(pull),
            44..52 => Act::Commit(coder),
            52..59 => Act::RequestReview(coder),
            59..64 => Act::CreatePr(coder),
            64..69 => Act::RequestChanges(coder),
            69..72 => Act::Approve(coder),
            72..74 => Act::CreateTask,
            74..78 => Act::KillServer(coder),
            78..79 => Act::RestartServer(coder),
            79..81 => Act::KillAgent(coder),
            81..87 => Act::KillCommand,
            87..89 => Act::KillTmux,
            89..90 => match self.below(3) {
                0 => Act::StallServer(coder),
                1 => Act::StallAgent(coder),
                _ => Act::StallCommand,
            },
            90..92 => Act::SlowGit,
            92..94 => Act::HoldDatabase(200 + self.below(4_000)),
            94..98 => Act::FailingCommand(self.failure(), 1 + self.below(40)),
            _ => Act::FailingServer(coder),
        }
    }
}

pub(super) fn actions_of(seed: u64) -> Vec<Action> {
    let mut numbers = Numbers::of(seed);
    (0..BURSTS * ACTIONS_OF_A_BURST)
        .zip(1..)
        .map(|(env, number)| Action {
            number,
            burst: 1 + env / ACTIONS_OF_A_BURST,
            pause: numbers.below(MAX_PAUSE),
            act: numbers.act(),
        })
        .collect()
}
