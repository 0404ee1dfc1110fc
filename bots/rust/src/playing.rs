//! One match on a thread of its own, so that a player who thinks keeps nothing else waiting.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::mpsc::UnboundedSender;

use crate::bot::{Bot, Result, Turn};
use crate::client::fail;
use crate::v1::bot_message::Body as Said;
use crate::v1::referee_message::Body as Heard;
use crate::v1::{BotMessage, MatchStart, Ready};

/// What is to be sent. The lock keeps an answer that is late from being put behind the next match's messages.
pub(crate) type Outbox = Arc<Mutex<UnboundedSender<BotMessage>>>;

/// The reader's side of a match.
pub(crate) struct Playing {
    inbox: Sender<Heard>,
    /// Decisions up to this number are closed.
    closed: Arc<AtomicU32>,
}

impl Playing {
    /// Starts the player's thread.
    pub(crate) fn start(bot: &Arc<Bot>, start: MatchStart, outbox: &Outbox) -> Self {
        let (inbox, arriving) = channel();
        let closed = Arc::new(AtomicU32::new(0));
        let (bot, outbox, shared) = (bot.clone(), outbox.clone(), closed.clone());
        thread::spawn(move || {
            if let Err(error) = play(&bot, &start, &arriving, &outbox, &shared) {
                fail(&format!("the player failed in match {}: {error}", start.r#match));
            }
        });
        Self { inbox, closed }
    }

    /// Hands over a message about the match.
    pub(crate) fn deliver(&self, message: Heard) {
        match message {
            Heard::Cancel(cancel) => self.closed.store(cancel.decision, Ordering::Relaxed),
            Heard::MatchEnd(_) => {
                self.closed.store(u32::MAX, Ordering::Relaxed);
                let _ = self.inbox.send(message);
            }
            _ => {
                let _ = self.inbox.send(message);
            }
        }
    }
}

fn play(
    bot: &Bot,
    start: &MatchStart,
    arriving: &Receiver<Heard>,
    outbox: &Outbox,
    closed: &Arc<AtomicU32>,
) -> Result<()> {
    let mut player = (bot.start)(start)?;
    let ready = Ready {
        r#match: start.r#match.clone(),
    };
    say(outbox, Said::Ready(ready), || false);
    while let Ok(message) = arriving.recv() {
        match message {
            Heard::Decide(decide) => {
                let mut turn = Turn::new(decide, closed.clone(), bot);
                let answer = player.choose(&mut turn)?;
                let number = turn.number();
                say(outbox, turn.answer(answer), || closed.load(Ordering::Relaxed) >= number);
            }
            Heard::Update(update) => player.update(&update),
            Heard::MatchEnd(end) => {
                player.end(&end);
                break;
            }
            _ => {}
        }
    }
    Ok(())
}

fn say(outbox: &Outbox, body: Said, is_late: impl Fn() -> bool) {
    let outbox = outbox.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_late() {
        // Where it fails the stream has ended: its reader says why.
        let _ = outbox.send(BotMessage { body: Some(body) });
    }
}
