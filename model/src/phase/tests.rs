//! The decision table: phase × kind of file × tool.

use super::*;

/// One line per phase; columns in the order of `KINDS`. `+` allowed, `-` denied, `!` protected.
const KINDS: [FileKind; 7] = [
    FileKind::Production,
    FileKind::Test,
    FileKind::Documentation,
    FileKind::Configuration,
    FileKind::Other,
    FileKind::Guard,
    FileKind::Outside,
];
const EDITS: [(Phase, &str); 5] = [
    //                        prod test doc conf other guard outside
    (Phase::Requirements, "   -    -    +   +    -     !     +"),
    (Phase::Interfaces, "     +    -    +   +    +     !     +"),
    (Phase::Tests, "          -    +    +   +    +     !     +"),
    (Phase::Implementation, " +    +    +   +    +     !     +"),
    (Phase::Done, "           +    +    +   +    +     +     +"),
];
/// The same for Bash: `?` runs and is looked at afterwards.
const COMMANDS: [(Phase, &str); 5] = [
    (Phase::Requirements, "   ?    ?    ?   ?    ?     !     ?"),
    (Phase::Interfaces, "     ?    ?    ?   ?    ?     !     ?"),
    (Phase::Tests, "          ?    ?    ?   ?    ?     !     ?"),
    (Phase::Implementation, " ?    ?    ?   ?    ?     !     ?"),
    (Phase::Done, "           +    +    +   +    +     +     +"),
];

fn sign(ruling: Ruling) -> char {
    match ruling {
        Ruling::Allowed => '+',
        Ruling::Denied => '-',
        Ruling::Protected => '!',
        Ruling::Checked => '?',
    }
}

#[test]
fn the_table_of_rulings() {
    assert_eq!(KINDS.len(), FileKind::ALL.len());
    for &tool in ToolKind::ALL {
        let table = if tool == ToolKind::Bash {
            COMMANDS
        } else {
            EDITS
        };
        assert_eq!(table.len(), Phase::ALL.len());
        for (phase, row) in table {
            let expected: Vec<char> = row.chars().filter(|sign| *sign != ' ').collect();
            let actual: Vec<char> = KINDS
                .iter()
                .map(|&kind| sign(phase.ruling(tool, kind)))
                .collect();
            assert_eq!(actual, expected, "{tool} in {phase}");
        }
    }
}

#[test]
fn phases_follow_each_other_to_the_end() {
    let mut phase = Phase::Requirements;
    let mut passed = vec![phase];
    while let Some(next) = phase.next() {
        phase = next;
        passed.push(phase);
    }
    assert_eq!(passed, Phase::ALL);
    let numbers: Vec<_> = passed.iter().filter_map(|phase| phase.number()).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    let confirmed: Vec<_> = passed
        .iter()
        .filter(|phase| phase.needs_confirmation())
        .collect();
    assert_eq!(
        confirmed,
        [&Phase::Requirements, &Phase::Interfaces, &Phase::Tests]
    );
}
