//! One program, several players: the option `player` of bot.toml, or of the tournament, says which one plays.

mod random;
mod shibuya;
mod streets;

use crosstown::{fail, run, text_option};

fn main() {
    match text_option("player", "random").as_deref() {
        Ok("random") => run(random::bot()),
        Ok("shibuya") => run(shibuya::bot()),
        Ok(other) => fail(&format!("option player is '{other}': expected random or shibuya")),
        Err(error) => fail(&error.to_string()),
    }
}
