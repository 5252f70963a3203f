//! The 256 colours of xterm. The first sixteen belong to the theme and are in the stylesheet.

/// Levels of red, green and blue in the cube of colours 16 to 231.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Returns red, green and blue of a colour from 16 up.
fn rgb(colour: u8) -> (u8, u8, u8) {
    if colour >= 232 {
        let grey = 8 + 10 * (colour - 232);
        return (grey, grey, grey);
    }
    let cube = colour.saturating_sub(16);
    let level = |digit: u8| LEVELS[usize::from(digit % 6)];
    (level(cube / 36), level(cube / 6), level(cube))
}

/// Returns the colour, from 16 up, that looks most like one of sixteen million.
pub(super) fn nearest(red: u8, green: u8, blue: u8) -> u8 {
    let distance = |colour: u8| {
        let (r, g, b) = rgb(colour);
        let square = |one: u8, other: u8| u32::from(one.abs_diff(other)).pow(2);
        // The eye sees green best and blue least.
        3 * square(r, red) + 4 * square(g, green) + 2 * square(b, blue)
    };
    (16..=255)
        .min_by_key(|&colour| distance(colour))
        .unwrap_or(16)
}

/// Returns the rules for colours 16 to 255, as text and as background.
pub fn stylesheet() -> String {
    let mut rules = String::with_capacity(12_000);
    for colour in 16..=255 {
        let (red, green, blue) = rgb(colour);
        let hex = if [red, green, blue].iter().all(|part| part % 17 == 0) {
            format!("{:x}{:x}{:x}", red / 17, green / 17, blue / 17)
        } else {
            format!("{red:02x}{green:02x}{blue:02x}")
        };
        rules.push_str(&format!(
            ".f{colour}{{color:#{hex}}}.b{colour}{{background:#{hex}}}\n"
        ));
    }
    rules
}
