//! What Claude Code's input box shows, hides and makes of a paste.

use scripted_model::last_user_text;

use super::Lab;
use crate::support::text;

/// A picture of one pixel.
const PICTURE: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

#[test]
fn a_line_that_is_the_path_of_a_picture_stays_a_line() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let coder = lab.coder("begin");
    lab.shows(&coder, "Done.");
    let picture = lab.place.path("shot.gif");
    std::fs::write(&picture, PICTURE).unwrap();
    let path = picture.to_str().unwrap();
    for message in [
        path.to_owned(),
        format!("It looks like this:\n  \"{path}\" \nwhich is wrong.\n\n\nMend it."),
    ] {
        lab.idle(&coder);
        text(&lab.place.send(&coder, &message));
        lab.taken(&coder);
        let sent = lab.place.messages(&coder).pop().unwrap();
        lab.place
            .until("the model has it", || lab.told(sent.id.as_str()) == 1);
        let conversation = lab.model.conversations().pop().unwrap();
        let told = last_user_text(&conversation);
        for line in message.lines() {
            assert!(told.contains(line.trim()), "{told}");
        }
        let messages = conversation["messages"].to_string();
        assert!(!messages.contains(r#""type":"image""#), "{messages}");
    }
}
