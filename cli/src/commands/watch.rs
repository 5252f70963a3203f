//! `claude-codex list --watch`: the board, drawn again whenever something changes, with keys.

use std::io::{self, Read};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use shared::error::{Code, Error};
use shared::model::InstanceId;
use shared::store::Changes;
use shared::workflow::{self, BoardRow, Context};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::list::{nobody, table};
use super::{show, stop};
use crate::failure::Failure;
use crate::live::LiveLines;
use crate::output::{BOLD, DIM, Output, WARNING, width};
use crate::text::cut;

/// How often keys are looked for.
const KEYS: Duration = Duration::from_millis(50);
/// How often the agents themselves are looked at; the database is asked with the keys.
const LOOK: Duration = Duration::from_secs(2);

const HELP: &str = "↑↓ choose   Enter attach   v show   s stop   q quit";

/// What a person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Up,
    Down,
    Attach,
    Show,
    Stop,
    Yes,
    Quit,
    Other,
}

/// Reads keys; an arrow is three bytes.
fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        let (key, taken) = match (first, after) {
            (b'\x1b', [b'[' | b'O', b'A', ..]) => (Key::Up, 3),
            (b'\x1b', [b'[' | b'O', b'B', ..]) => (Key::Down, 3),
            (b'k', _) => (Key::Up, 1),
            (b'j', _) => (Key::Down, 1),
            (b'\n' | b'\r' | b'a', _) => (Key::Attach, 1),
            (b'v', _) => (Key::Show, 1),
            (b's', _) => (Key::Stop, 1),
            (b'y', _) => (Key::Yes, 1),
            (b'q', _) => (Key::Quit, 1),
            _ => (Key::Other, 1),
        };
        keys.push(key);
        rest = &rest[taken..];
    }
    keys
}

/// The keyboard, read key by key; the terminal is as it was when this value is gone.
struct Keyboard {
    before: Option<Termios>,
}

impl Keyboard {
    /// Takes the keyboard over, if there is one.
    fn open() -> Self {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin).ok();
        if let Some(before) = &before {
            let mut modes = before.clone();
            modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            // A read returns at once, with whatever there is.
            modes.special_codes[SpecialCodeIndex::VMIN] = 0;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
            // Where this fails there are no keys, and the board is still worth watching.
            let _ = tcsetattr(&stdin, OptionalActions::Now, &modes);
        }
        Self { before }
    }

    fn pressed(&self) -> Vec<Key> {
        let mut bytes = [0; 64];
        if self.before.is_none() {
            return Vec::new();
        }
        let read = io::stdin().lock().read(&mut bytes).unwrap_or(0);
        keys(&bytes[..read])
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// What to do next.
enum Wish {
    Look,
    Attach(InstanceId),
    Show(InstanceId),
    Stop(InstanceId),
    Quit,
}

struct Watch<'c> {
    context: &'c Context,
    all: bool,
    output: Output,
    board: LiveLines,
    interrupt: Signal,
    changes: Changes,
    chosen: Option<InstanceId>,
    /// The agent that a person is asked about.
    stopping: Option<InstanceId>,
}

/// Draws the board until the user has seen enough.
pub(super) async fn watch(context: &Context, all: bool, output: Output) -> Result<(), Failure> {
    // One listener for all the time: a Ctrl-C between two waits is not lost.
    let interrupt = signal(SignalKind::interrupt())
        .map_err(|source| Error::new(Code::Internal, format!("cannot hear Ctrl-C: {source}")))?;
    let mut watch = Watch {
        context,
        all,
        output,
        board: LiveLines::default(),
        interrupt,
        changes: context.store.changes()?,
        chosen: None,
        stopping: None,
    };
    loop {
        let keyboard = Keyboard::open();
        let wish = watch.next_wish(&keyboard).await?;
        // Whatever comes now has the terminal as the user left it.
        drop(keyboard);
        match wish {
            Wish::Look => {}
            Wish::Quit => return Ok(()),
            Wish::Attach(id) => watch.attach(&id).await?,
            Wish::Show(id) => {
                let text = show::text(context, &id).await?;
                watch.say(&text).await?;
            }
            Wish::Stop(id) => {
                let stopped = stop::stop_recorded(context, &id, output).await;
                let text = match stopped {
                    Ok(stopped) => format!("{id} is {}\n", stopped.instance.status),
                    Err(error) => format!("{WARNING}{}{WARNING:#}\n", error.message),
                };
                watch.say(&text).await?;
            }
        }
        workflow::reconcile(context).await?;
    }
}

impl Watch<'_> {
    /// Draws and waits: for a key, for a change, or for the time to look again.
    async fn next_wish(&mut self, keyboard: &Keyboard) -> Result<Wish, Failure> {
        // Before the look, so that what comes after it is not missed.
        self.changes.forget();
        let rows = workflow::board(self.context, self.all).await?;
        self.draw("", &rows)?;
        let began = Instant::now();
        while began.elapsed() < LOOK {
            tokio::select! {
                _ = self.interrupt.recv() => return Ok(Wish::Quit),
                () = tokio::time::sleep(KEYS) => {}
            }
            for key in keyboard.pressed() {
                if let Some(wish) = self.pressed(key, &rows) {
                    return Ok(wish);
                }
                self.draw("", &rows)?;
            }
            if self.changes.is_new() {
                break;
            }
        }
        Ok(Wish::Look)
    }

    fn pressed(&mut self, key: Key, rows: &[BoardRow]) -> Option<Wish> {
        let asked = self.stopping.take();
        let place = self.place(rows)?;
        let id = rows[place].instance.id.clone();
        match key {
            Key::Up => self.choose(rows, place.saturating_sub(1)),
            Key::Down => self.choose(rows, place + 1),
            Key::Attach => return Some(Wish::Attach(id)),
            Key::Show => return Some(Wish::Show(id)),
            Key::Stop => self.stopping = Some(id),
            Key::Yes => return asked.map(Wish::Stop),
            Key::Quit => return Some(Wish::Quit),
            Key::Other => {}
        }
        None
    }

    fn choose(&mut self, rows: &[BoardRow], place: usize) {
        let row = rows.get(place).or(rows.last());
        self.chosen = row.map(|row| row.instance.id.clone());
    }

    /// Returns where the chosen agent is now; the first, if it has gone.
    fn place(&self, rows: &[BoardRow]) -> Option<usize> {
        let found = rows
            .iter()
            .position(|row| Some(&row.instance.id) == self.chosen.as_ref());
        found.or((!rows.is_empty()).then_some(0))
    }

    fn draw(&mut self, above: &str, rows: &[BoardRow]) -> Result<(), Failure> {
        let Some(place) = self.place(rows) else {
            let nobody = vec![cut(nobody(self.all).trim_end(), width())];
            return self.board.draw(self.output, above, nobody);
        };
        let room = width().saturating_sub(2);
        let mut lines: Vec<String> = table(rows)
            .lines(room)
            .into_iter()
            .enumerate()
            // The first line is the title.
            .map(|(line, text)| {
                let mark = if line == place + 1 { "▸" } else { " " };
                format!("{BOLD}{mark}{BOLD:#} {text}")
            })
            .collect();
        lines.push(match &self.stopping {
            Some(id) => {
                format!("{WARNING}Stop {id}? y stops it, any other key does not{WARNING:#}")
            }
            None => format!("{DIM}{}{DIM:#}", cut(HELP, width())),
        });
        self.board.draw(self.output, above, lines)
    }

    /// Writes text above the board.
    async fn say(&mut self, text: &str) -> Result<(), Failure> {
        let rows = workflow::board(self.context, self.all).await?;
        self.draw(&format!("{text}\n"), &rows)
    }

    /// Gives the terminal to the agent until the person leaves it.
    async fn attach(&mut self, id: &InstanceId) -> Result<(), Failure> {
        let wanted = id.clone();
        let instance = self
            .context
            .store
            .read(move |r| r.instance(&wanted))
            .await?;
        let problem = match workflow::attach_argv(self.context, &instance) {
            Err(error) => Some(error.message),
            Ok(command) => match command.split_first() {
                None => None,
                Some((program, arguments)) => {
                    let left = Command::new(program).args(arguments).status();
                    left.err()
                        .map(|error| format!("cannot start tmux: {error}"))
                }
            },
        };
        match problem {
            None => Ok(()),
            Some(problem) => self.say(&format!("{WARNING}{problem}{WARNING:#}")).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_and_letters_are_told_apart() {
        assert_eq!(
            keys(b"\x1b[A\x1bOBjk\rvsyq\x1b"),
            [
                Key::Up,
                Key::Down,
                Key::Down,
                Key::Up,
                Key::Attach,
                Key::Show,
                Key::Stop,
                Key::Yes,
                Key::Quit,
                Key::Other
            ]
        );
    }
}
