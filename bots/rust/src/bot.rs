//! What an author writes and is shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use prost::Message;

use crate::v1;

/// Whatever went wrong in a player. It ends the process: that is a crash, which loses the match.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
pub type Result<T> = std::result::Result<T, Error>;

/// What the bot tells the referee about itself, and how it begins a match.
pub struct Bot {
    pub name: String,
    pub version: String,
    /// Ids of the games it plays; none: any.
    pub games: Vec<String>,
    /// Matches it plays at the same time, each on its own thread.
    pub parallel_matches: u32,
    /// Ask for [`Player::update`] to be called while others move.
    pub wants_updates: bool,
    /// These two save the work of encoding what is not looked at; it is then not there.
    pub omit_observation: bool,
    pub omit_legal_actions: bool,
    /// Makes the player of a match. There is time: the limit is the one for becoming ready.
    pub start: fn(&v1::MatchStart) -> Result<Box<dyn Player>>,
}

impl Bot {
    /// A bot that plays any game, one match after another.
    #[must_use]
    pub fn new(name: &str, start: fn(&v1::MatchStart) -> Result<Box<dyn Player>>) -> Self {
        Self {
            name: name.into(),
            version: "1".into(),
            games: Vec::new(),
            parallel_matches: 1,
            wants_updates: false,
            omit_observation: false,
            omit_legal_actions: false,
            start,
        }
    }
}

/// Plays one match.
pub trait Player {
    /// Answers one question.
    ///
    /// # Errors
    /// Whatever keeps it from answering: the process ends.
    fn choose(&mut self, turn: &mut Turn) -> Result<Answer>;

    /// Others have moved; only with [`Bot::wants_updates`].
    fn update(&mut self, _update: &v1::Update) {}

    /// The match is over.
    fn end(&mut self, _end: &v1::MatchEnd) {}
}

/// One question: what the referee sent, and a note that stands beside the move in the record.
pub struct Turn {
    pub decide: v1::Decide,
    pub note: String,
    closed: Arc<AtomicU32>,
    omit_observation: bool,
    omit_legal_actions: bool,
}

impl Turn {
    pub(crate) fn new(decide: v1::Decide, closed: Arc<AtomicU32>, bot: &Bot) -> Self {
        Self {
            decide,
            note: String::new(),
            closed,
            omit_observation: bot.omit_observation,
            omit_legal_actions: bot.omit_legal_actions,
        }
    }

    /// Number of the decision within the match, over all seats, ascending.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.decide.decision
    }

    /// Legal answers are `0..legal_count`. 0 is the harmless one where there is one.
    #[must_use]
    pub fn legal_count(&self) -> u32 {
        self.decide.legal_count
    }

    /// The game's `Observation` message.
    ///
    /// # Errors
    /// If it is another game's, or the bot omits it.
    pub fn observation<M: Message + Default>(&self) -> Result<M> {
        if self.omit_observation {
            return Err(
                "the observation is not sent: your Bot says omit_observation: true; take that line out of it".into(),
            );
        }
        Ok(M::decode(self.decide.observation.as_slice())?)
    }

    /// The game's `LegalActions` message.
    ///
    /// # Errors
    /// If it is another game's, or the bot omits it.
    pub fn legal_actions<M: Message + Default>(&self) -> Result<M> {
        if self.omit_legal_actions {
            return Err(
                "the legal actions are not sent: your Bot says omit_legal_actions: true; take that line out of it"
                    .into(),
            );
        }
        Ok(M::decode(self.decide.legal_actions.as_slice())?)
    }

    /// Time for this answer when the referee sent the question, with all that bank or total can give; at zero none is
    /// left. `decide.clock` says how much of it is bank or total, which later answers lack.
    #[must_use]
    pub fn left(&self) -> Duration {
        Duration::from_micros(self.decide.clock.map_or(0, |clock| clock.left_us))
    }

    /// Whether the referee has closed the question, so that an answer would be dropped. Ask it in long loops.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed) >= self.number()
    }

    pub(crate) fn answer(self, answer: Answer) -> v1::bot_message::Body {
        let choice = match answer {
            Answer::Index(index) => v1::r#move::Choice::Index(index),
            Answer::Action(action) => v1::r#move::Choice::Action(action),
            Answer::Resign => {
                return v1::bot_message::Body::Resign(v1::Resign {
                    r#match: self.decide.r#match,
                });
            }
        };
        v1::bot_message::Body::Move(v1::Move {
            r#match: self.decide.r#match,
            decision: self.decide.decision,
            choice: Some(choice),
            note: self.note,
            ..Default::default()
        })
    }
}

/// What a player answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A position in the list of legal actions.
    Index(u32),
    /// The game's `Action` message, encoded: see [`Answer::action`].
    Action(Vec<u8>),
    /// Gives the match up.
    Resign,
}

impl Answer {
    /// Answers with the game's `Action` message.
    pub fn action(action: &impl Message) -> Self {
        Self::Action(action.encode_to_vec())
    }
}

/// The text option `name`, of bot.toml or of the tournament, or `otherwise` if there is none.
///
/// # Errors
/// If `CROSSTOWN_OPTIONS` is not JSON.
pub fn text_option(name: &str, otherwise: &str) -> Result<String> {
    let json = std::env::var("CROSSTOWN_OPTIONS").unwrap_or_else(|_| "{}".into());
    let options: serde_json::Value =
        serde_json::from_str(&json).map_err(|error| format!("CROSSTOWN_OPTIONS is {json}: {error}"))?;
    Ok(options[name].as_str().unwrap_or(otherwise).into())
}
