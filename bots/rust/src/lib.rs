//! The client side of a bot: write a [`Player`] that answers one question at a time, and a [`Bot`] that makes one for
//! each match; then [`run`] it.

mod bot;
mod client;
mod luck;
mod playing;

pub use bot::{Answer, Bot, Error, Player, Result, Turn, text_option};
pub use client::{fail, run};
pub use luck::fair_index;

#[allow(clippy::all, clippy::pedantic)]
mod messages {
    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

/// The messages of the wire, and in modules below those of each game.
pub use messages::crosstown::v1;
