//! Plays any game: takes one of the legal actions by chance.

use crosstown::{Answer, Bot, Player, Result, Turn, fair_index};

struct Random {
    seed: u64,
}

impl Player for Random {
    fn choose(&mut self, turn: &mut Turn) -> Result<Answer> {
        Ok(Answer::Index(fair_index(self.seed, turn.number(), turn.legal_count())))
    }
}

pub fn bot() -> Bot {
    Bot {
        parallel_matches: 4,
        // It only counts, so neither is sent, which is quicker. Take the two lines out to read them.
        omit_observation: true,
        omit_legal_actions: true,
        ..Bot::new("random", |start| Ok(Box::new(Random { seed: start.bot_seed })))
    }
}
