//! `claude-codex list --watch`: a live board in the alternate screen, with keys for what a person does with agents.

mod actions;
mod keys;
mod screen;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anstyle::Style;
use shared::error::{Code, Error};
use shared::model::{Instance, InstanceId};
use shared::store::Changes;
use shared::workflow::{self, Activity, Bell, BoardRow, Context};
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::keys::{Key, Keyboard};
use self::screen::{Screen, is_waiting};
use crate::failure::Failure;
use crate::output::{Output, WARNING};

/// How often keys are polled.
const KEY_INTERVAL: Duration = Duration::from_millis(50);
/// How often the activity of agents is refreshed. Changes of the database are noticed with the next poll of keys.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
/// The shortest time between two repairs: some dead agents cannot be repaired at once.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(10);
/// More is not typed into one line.
const MAX_MESSAGE_CHARS: usize = 20_000;

/// What the screen shows.
enum Mode {
    Board,
    /// A text that is scrolled.
    Pager {
        title: String,
        text: Vec<String>,
        top: usize,
    },
    /// A message is being written; with `peek`, below what the agent's terminal shows.
    Compose {
        id: InstanceId,
        peek: Option<Vec<String>>,
        text: String,
    },
    Confirm(Question),
}

/// What is asked before it is done.
#[derive(Debug, Clone)]
enum Question {
    Stop(InstanceId),
    Merge(InstanceId, u64),
}

impl Question {
    fn text(&self) -> String {
        match self {
            Self::Stop(id) => format!("Stop {id}?"),
            Self::Merge(id, number) => format!("Merge pull request #{number} of {id}?"),
        }
    }
}

/// What the person asked for.
enum Request {
    Attach(InstanceId),
    Peek(InstanceId),
    Show(InstanceId),
    Diff(InstanceId),
    Logs(InstanceId),
    Send(InstanceId, String),
    Resume(InstanceId),
    Confirmed(Question),
    Quit,
}

/// Everything that decides what is drawn.
struct View {
    all: bool,
    mode: Mode,
    selected_id: Option<InstanceId>,
    /// The place of the selected agent, for when it is gone.
    selected_index: usize,
    /// The first agent that is shown.
    top: usize,
    /// Said in the footer until the next key.
    notice: Option<(String, Style)>,
    /// Who waited for the person when the board was last read; none before the first time.
    waiting: Option<BTreeSet<InstanceId>>,
}

struct Watch<'c> {
    context: &'c Context,
    view: View,
    rows: Vec<BoardRow>,
    changes: Changes,
    bell: Bell,
    /// When it last repaired rows of dead agents.
    reconciled: Option<Instant>,
    resized: Signal,
    ended: [Signal; 3],
}

/// Draws the board until the person quits.
pub(super) async fn watch(context: &Context, all: bool, output: Output) -> Result<(), Failure> {
    let mut watch = Watch {
        context,
        view: View::new(all),
        rows: Vec::new(),
        changes: context.store.changes()?,
        bell: Bell::default(),
        reconciled: None,
        resized: listen(SignalKind::window_change())?,
        // One listener each, so that a signal between two waits is not lost.
        ended: [
            listen(SignalKind::interrupt())?,
            listen(SignalKind::terminate())?,
            listen(SignalKind::hangup())?,
        ],
    };
    loop {
        let mut keyboard = Keyboard::open();
        let screen = Screen::enter(output)?;
        let request = loop {
            match watch.next_request(&mut keyboard, &screen).await? {
                Request::Quit => return Ok(()),
                // Another program gets the terminal as it was.
                Request::Attach(id) => {
                    if watch.has_terminal(&id).await? {
                        break id;
                    }
                }
                request => {
                    watch.act(request, &screen).await?;
                    workflow::reconcile(context).await?;
                }
            }
        };
        drop(screen);
        drop(keyboard);
        watch.attach(&request).await?;
        workflow::reconcile(context).await?;
    }
}

fn listen(kind: SignalKind) -> Result<Signal, Error> {
    signal(kind).map_err(|source| {
        Error::new(
            Code::Internal,
            format!("cannot listen for signals: {source}"),
        )
    })
}

impl Watch<'_> {
    /// Draws, and waits for a key that asks for something.
    async fn next_request(
        &mut self,
        keyboard: &mut Keyboard,
        screen: &Screen,
    ) -> Result<Request, Failure> {
        loop {
            // Before the query, so that later changes are not missed.
            self.changes.forget();
            self.rows = workflow::board(self.context, self.view.all).await?;
            self.settle_the_dead().await?;
            self.view.remember_place(&self.rows);
            self.notice_attention(screen)?;
            workflow::notify_of(self.context, &self.rows).await?;
            self.refresh_peek().await;
            screen.draw(&mut self.view, &self.rows)?;
            let began = Instant::now();
            while began.elapsed() < REFRESH_INTERVAL && !self.changes.is_new() {
                let [interrupt, terminate, hangup] = &mut self.ended;
                tokio::select! {
                    _ = interrupt.recv() => return Ok(Request::Quit),
                    _ = terminate.recv() => return Ok(Request::Quit),
                    _ = hangup.recv() => return Ok(Request::Quit),
                    _ = self.resized.recv() => screen.draw(&mut self.view, &self.rows)?,
                    () = tokio::time::sleep(KEY_INTERVAL) => {}
                }
                let keys = keyboard.pressed();
                for key in &keys {
                    if let Some(request) = self.view.pressed(*key, &self.rows) {
                        return Ok(request);
                    }
                }
                if !keys.is_empty() {
                    screen.draw(&mut self.view, &self.rows)?;
                }
            }
        }
    }

    /// Repairs the rows of agents that have died since: only then do they count as failed, and wait for the person.
    async fn settle_the_dead(&mut self) -> Result<(), Failure> {
        let died = self.rows.iter().any(|row| row.activity == Activity::Gone);
        let is_due = self
            .reconciled
            .is_none_or(|at| at.elapsed() >= RECONCILE_INTERVAL);
        if died && is_due {
            self.reconciled = Some(Instant::now());
            workflow::reconcile(self.context).await?;
            self.rows = workflow::board(self.context, self.view.all).await?;
        }
        Ok(())
    }

    /// Says who has begun to wait for the person, and rings the bell for what is new (`notify.bell`).
    fn notice_attention(&mut self, screen: &Screen) -> Result<(), Failure> {
        if self.context.settings().notify.bell
            && let Some(ring) = self.bell.ring(&self.rows)
        {
            screen.signal(&ring)?;
        }
        let new = self.view.newly_waiting(&self.rows);
        let text = match new.as_slice() {
            [] => return Ok(()),
            [id] => format!("{id} waits for you"),
            [id, more @ ..] => format!("{id} and {} more wait for you", more.len()),
        };
        // What was said about the person's last key stays readable.
        match &mut self.view.notice {
            Some((said, _)) => *said = format!("{said}\n{text}"),
            None => self.view.warn(text),
        }
        Ok(())
    }

    async fn instance(&self, id: &InstanceId) -> Result<Instance, Error> {
        let id = id.clone();
        Ok(self.context.store.read(move |r| r.instance(&id)).await?)
    }
}

impl View {
    fn new(all: bool) -> Self {
        Self {
            all,
            mode: Mode::Board,
            selected_id: None,
            selected_index: 0,
            top: 0,
            notice: None,
            waiting: None,
        }
    }

    fn warn(&mut self, text: String) {
        self.notice = Some((text, WARNING));
    }

    fn pressed(&mut self, key: Key, rows: &[BoardRow]) -> Option<Request> {
        self.notice = None;
        match std::mem::replace(&mut self.mode, Mode::Board) {
            Mode::Board => self.pressed_on_board(key, rows),
            Mode::Pager { title, text, top } => {
                let page = crate::output::height().saturating_sub(4).max(1);
                let top = match key {
                    Key::Escape | Key::Enter | Key::Char('q') => return None,
                    Key::Up | Key::Char('k') => top.saturating_sub(1),
                    Key::Down | Key::Char('j') => top + 1,
                    Key::PageUp | Key::Char('b') => top.saturating_sub(page),
                    Key::PageDown | Key::Char(' ') => top + page,
                    Key::Home | Key::Char('g') => 0,
                    Key::End | Key::Char('G') => usize::MAX / 2,
                    _ => top,
                };
                self.mode = Mode::Pager { title, text, top };
                None
            }
            Mode::Compose { id, peek, mut text } => {
                match key {
                    Key::Escape => return None,
                    Key::Enter if !text.trim().is_empty() => {
                        return Some(Request::Send(id, text));
                    }
                    Key::Backspace => {
                        text.pop();
                    }
                    Key::Clear => text.clear(),
                    Key::Char(character) if text.len() < MAX_MESSAGE_CHARS => text.push(character),
                    _ => {}
                }
                self.mode = Mode::Compose { id, peek, text };
                None
            }
            Mode::Confirm(question) => {
                (key == Key::Char('y')).then_some(Request::Confirmed(question))
            }
        }
    }

    fn pressed_on_board(&mut self, key: Key, rows: &[BoardRow]) -> Option<Request> {
        match key {
            Key::Char('q') => return Some(Request::Quit),
            Key::Char('?') => {
                self.mode = actions::help();
                return None;
            }
            _ => {}
        }
        let index = self.selected(rows)?;
        let instance = &rows[index].instance;
        let id = instance.id.clone();
        let page = crate::output::height().saturating_sub(4).max(1);
        match key {
            Key::Up | Key::Char('k') => self.select(rows, index.saturating_sub(1)),
            Key::Down | Key::Char('j') => self.select(rows, index + 1),
            Key::PageUp => self.select(rows, index.saturating_sub(page)),
            Key::PageDown => self.select(rows, index + page),
            Key::Home | Key::Char('g') => self.select(rows, 0),
            Key::End | Key::Char('G') => self.select(rows, rows.len()),
            Key::Char('w') => self.select_waiting(rows, index),
            Key::Enter | Key::Char('a') => return Some(Request::Attach(id)),
            Key::Char('p') => return Some(Request::Peek(id)),
            Key::Char('v') => return Some(Request::Show(id)),
            Key::Char('d') => return Some(Request::Diff(id)),
            Key::Char('l') => return Some(Request::Logs(id)),
            Key::Char('r') => return Some(Request::Resume(id)),
            Key::Char('m') => {
                self.mode = Mode::Compose {
                    id,
                    peek: None,
                    text: String::new(),
                };
            }
            Key::Char('s') => self.mode = Mode::Confirm(Question::Stop(id)),
            Key::Char('M') => match instance.pr_number {
                Some(number) => self.mode = Mode::Confirm(Question::Merge(id, number)),
                None => self.warn(format!("{id} has no pull request")),
            },
            _ => {}
        }
        None
    }

    fn select(&mut self, rows: &[BoardRow], index: usize) {
        self.selected_index = index.min(rows.len().saturating_sub(1));
        let row = rows.get(self.selected_index);
        self.selected_id = row.map(|row| row.instance.id.clone());
    }

    fn select_waiting(&mut self, rows: &[BoardRow], index: usize) {
        let following = (1..=rows.len()).map(|step| (index + step) % rows.len());
        let found = following.into_iter().find(|at| is_waiting(&rows[*at]));
        match found {
            Some(found) => self.select(rows, found),
            None => self.notice = Some(("Nobody waits for you".to_owned(), Style::new())),
        }
    }

    /// Returns the index of the selected agent; if it is gone, of the one in its place.
    fn selected(&self, rows: &[BoardRow]) -> Option<usize> {
        let found = rows
            .iter()
            .position(|row| Some(&row.instance.id) == self.selected_id.as_ref());
        let place = self.selected_index.min(rows.len().saturating_sub(1));
        found.or((!rows.is_empty()).then_some(place))
    }

    fn remember_place(&mut self, rows: &[BoardRow]) {
        if let Some(index) = self.selected(rows) {
            self.select(rows, index);
        }
    }

    /// Returns who waits for the person now and did not when the board was last read.
    fn newly_waiting(&mut self, rows: &[BoardRow]) -> Vec<InstanceId> {
        let waiting = rows.iter().filter(|row| is_waiting(row));
        let waiting: BTreeSet<_> = waiting.map(|row| row.instance.id.clone()).collect();
        let before = self.waiting.replace(waiting.clone());
        before.map_or_else(Vec::new, |before| {
            waiting.difference(&before).cloned().collect()
        })
    }
}
