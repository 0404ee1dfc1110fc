//! How far it is from any field to a goal, counted in moves. A board has the bit `1 << field` for field x + 8*y.

pub type Board = u64;

/// Moves to a goal that cannot be reached on the streets as they are.
pub const FAR: usize = 9;

const WEST: Board = 0x0101_0101_0101_0101;
const EAST: Board = WEST << 7;

/// The board with these fields set.
pub fn mask<'a>(fields: impl IntoIterator<Item = &'a u32>) -> Board {
    fields.into_iter().fold(0, |board, field| board | 1 << field)
}

/// The fields of a board, ascending.
pub fn fields(board: Board) -> impl Iterator<Item = u32> {
    (0..64).filter(move |field| board >> field & 1 == 1)
}

fn flood(seed: Board, area: Board) -> Board {
    let mut reached = seed & area;
    loop {
        let sideways = (reached & !EAST) << 1 | (reached & !WEST) >> 1;
        let grown = (reached | reached << 8 | reached >> 8 | sideways) & area;
        if grown == reached {
            return reached;
        }
        reached = grown;
    }
}

/// The laid fields by what one may walk on without changing pace: one colour, or one shape.
pub struct Streets {
    areas: [Board; 4],
}

impl Streets {
    /// `looks` as in the `Observation` message: 64 bytes.
    pub fn new(looks: &[u8]) -> Self {
        let of = |wanted: [u8; 2]| {
            let laid = looks.iter().enumerate().filter(|(_, look)| wanted.contains(look));
            laid.fold(0, |board: Board, (field, _)| board | 1 << field)
        };
        Self {
            areas: [of([1, 2]), of([3, 4]), of([1, 3]), of([2, 4])],
        }
    }

    /// Where a pedestrian on `start` (one bit) can walk past the `taken` fields; `start` included.
    pub fn reach(&self, start: Board, taken: Board) -> Board {
        let standing_on = self.areas.iter().filter(|&area| area & start != 0);
        standing_on.fold(start, |reached, area| reached | flood(start, area & !taken | start))
    }

    /// Layer n holds the fields that are n moves away from `goals`; between moves only `stops` may be stood on.
    pub fn moves_to(&self, goals: Board, stops: Board, taken: Board) -> Vec<Board> {
        let mut layers = vec![goals];
        let (mut seen, mut frontier) = (goals, goals);
        while frontier != 0 && layers.len() < FAR {
            let near = self
                .areas
                .iter()
                .fold(0, |near, area| near | flood(frontier, area & !taken))
                & !seen;
            layers.push(near);
            seen |= near;
            frontier = near & stops;
        }
        layers
    }
}

/// Moves from the nearest of `fields` along layers of [`Streets::moves_to`].
pub fn distance(layers: &[Board], fields: Board) -> usize {
    layers.iter().position(|layer| layer & fields != 0).unwrap_or(FAR)
}
