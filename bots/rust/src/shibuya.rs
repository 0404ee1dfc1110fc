//! Plays Shibuya: each move the one that saves most moves on the way to the goals; each tile where it helps most.

use std::collections::HashMap;

use crosstown::v1::shibuya::legal_actions::Kind;
use crosstown::v1::shibuya::{LegalActions, Observation, Team};
use crosstown::{Answer, Bot, Player, Result, Turn, fair_index};

use crate::streets::{Board, FAR, Streets, distance, fields, mask};

const OFF_GRID: u32 = 64;
const GOAL_WORTH: i32 = 100;
const MOVE_WORTH: i32 = 10;
const BUILD_WORTH: i32 = MOVE_WORTH / 2;

pub fn bot() -> Bot {
    Bot {
        games: vec!["shibuya".into()],
        parallel_matches: 4,
        ..Bot::new("shibuya", |start| {
            Ok(Box::new(Walker {
                seed: start.bot_seed,
                team: start.seat as usize % 2,
                been: HashMap::new(),
            }))
        })
    }
}

struct Walker {
    seed: u64,
    team: usize,
    /// How often each arrangement of the own pedestrians was left: going round in circles gets dearer.
    been: HashMap<Board, i32>,
}

impl Player for Walker {
    fn choose(&mut self, turn: &mut Turn) -> Result<Answer> {
        let seen: Observation = turn.observation()?;
        let legal: LegalActions = turn.legal_actions()?;
        let setting = seen.setting.clone().unwrap_or_default();
        let sides = [
            Side::new(
                setting.red.unwrap_or_default(),
                &seen.red_fields,
                &seen.red_waiting,
                &seen.red_goals,
            ),
            Side::new(
                setting.blue.unwrap_or_default(),
                &seen.blue_fields,
                &seen.blue_waiting,
                &seen.blue_goals,
            ),
        ];
        let (me, other) = (&sides[self.team], &sides[1 - self.team]);
        let worths: Vec<i32> = if legal.kinds().next() == Some(Kind::Place) {
            let tile = &setting.tile_looks[4 * seen.drawn_kind() as usize..][..4];
            let places = legal.source_or_slot.iter().zip(&legal.target_or_turn);
            places
                .map(|(slot, turn)| worth_of_tile(&looks_with(&seen.looks, tile, *slot, *turn), me, other))
                .collect()
        } else {
            *self.been.entry(me.standing).or_default() += 1;
            self.worths_of_moves(&Streets::new(&seen.looks), &legal, me, other)
        };
        Ok(Answer::Index(best(&worths, self.seed, turn.number())))
    }
}

impl Walker {
    fn worths_of_moves(&self, streets: &Streets, legal: &LegalActions, me: &Side, other: &Side) -> Vec<i32> {
        let layers = me.ways(streets, other);
        let taken = me.standing | other.standing;
        let worth = |index: usize, kind: Kind| {
            if kind != Kind::Move {
                return if kind == Kind::Build { BUILD_WORTH } else { 0 };
            }
            let (source, target) = (legal.source_or_slot[index], legal.target_or_turn[index]);
            let from = me.field_of(source);
            if target >= OFF_GRID {
                return GOAL_WORTH + me.fields_left(from); // a near pedestrian can still go later
            }
            let start = 1 << from;
            let saved =
                moves(distance(&layers, streets.reach(start, taken & !start))) - moves(distance(&layers, 1 << target));
            let leaving = if source < OFF_GRID { start } else { 0 };
            let repeated = self
                .been
                .get(&(me.standing & !leaving | 1 << target))
                .copied()
                .unwrap_or(0);
            MOVE_WORTH * (saved - repeated) + me.fields_left(from) - me.fields_left(target) + i32::from(leaving == 0)
        };
        legal
            .kinds()
            .enumerate()
            .map(|(index, kind)| worth(index, kind))
            .collect()
    }
}

/// One team as it stands.
struct Side {
    starts: Vec<u32>,
    standing: Board,
    /// Fields in front of the starts where somebody waits.
    entrances: Vec<u32>,
    /// Fields before goals with room.
    open_goals: Board,
    /// Fields before its own starts and goals, where the other team may not stop.
    own_ground: Board,
}

impl Side {
    fn new(team: Team, standing: &[u32], waiting: &[u32], goals: &[u32]) -> Self {
        let open = team.goal_fronts.iter().zip(goals).filter(|(_, held)| **held == 0);
        Self {
            standing: mask(standing),
            entrances: waiting.iter().map(|start| team.start_fronts[*start as usize]).collect(),
            open_goals: mask(open.map(|(front, _)| front)),
            own_ground: mask(&team.start_fronts) | mask(&team.goal_fronts),
            starts: team.start_fronts,
        }
    }

    fn field_of(&self, place: u32) -> u32 {
        if place < OFF_GRID {
            place
        } else {
            self.starts[(place - OFF_GRID) as usize]
        }
    }

    fn ways(&self, streets: &Streets, other: &Self) -> Vec<Board> {
        let taken = self.standing | other.standing;
        let stops = !(other.own_ground | taken);
        streets.moves_to(self.open_goals & stops, stops, taken)
    }

    /// Moves that all its pedestrians are away from their goals, summed.
    fn moves_left(&self, streets: &Streets, other: &Self) -> i32 {
        let layers = self.ways(streets, other);
        let taken = self.standing | other.standing;
        let left = |field: u32| FAR.min(1 + distance(&layers, streets.reach(1 << field, taken & !(1 << field))));
        fields(self.standing)
            .chain(self.entrances.iter().copied())
            .map(|field| moves(left(field)))
            .sum()
    }

    /// Fields to walk in a city without houses to the nearest goal with room.
    fn fields_left(&self, field: u32) -> i32 {
        let walk = |goal: u32| (goal % 8).abs_diff(field % 8) + (goal / 8).abs_diff(field / 8);
        fields(self.open_goals).map(walk).min().unwrap_or(0).cast_signed()
    }
}

fn moves(count: usize) -> i32 {
    i32::try_from(count).expect("at most FAR")
}

/// How much nearer the tile brings this team to its goals than the other team to theirs.
fn worth_of_tile(looks: &[u8], me: &Side, other: &Side) -> i32 {
    let streets = Streets::new(looks);
    other.moves_left(&streets, me) - me.moves_left(&streets, other)
}

fn looks_with(looks: &[u8], tile: &[u8], slot: u32, turn: u32) -> Vec<u8> {
    // A tile lists its fields clockwise from the top left; a quarter turn clockwise moves each one place on.
    let mut looks = looks.to_vec();
    let corner = (slot % 4 * 2 + slot / 4 * 16) as usize;
    for (position, offset) in [8, 9, 1, 0].into_iter().enumerate() {
        looks[corner + offset] = tile[(position + 4 - turn as usize) % 4];
    }
    looks
}

/// One of the highest, by chance.
fn best(worths: &[i32], seed: u64, decision: u32) -> u32 {
    let top = worths.iter().max().copied().unwrap_or(0);
    let ties: Vec<u32> = (0..)
        .zip(worths)
        .filter(|(_, worth)| **worth == top)
        .map(|(index, _)| index)
        .collect();
    ties[fair_index(seed, decision, u32::try_from(ties.len()).expect("few")) as usize]
}
