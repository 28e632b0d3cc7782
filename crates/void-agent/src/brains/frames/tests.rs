use super::*;

fn all(framing: Framing, pieces: &[&[u8]]) -> Vec<(bool, String)> {
    let mut frames = Frames::new(framing);
    let mut found = Vec::new();
    let mut take = |frames: &mut Frames| {
        while let Some(frame) = frames.next().unwrap() {
            found.push((
                frame.is_error,
                String::from_utf8(frame.data.to_vec()).unwrap(),
            ));
        }
    };
    for piece in pieces {
        frames.push(piece);
        take(&mut frames);
    }
    frames.end();
    take(&mut frames);
    found
}

fn data(text: &str) -> (bool, String) {
    (false, text.to_owned())
}

#[test]
fn events_are_cut_at_empty_lines() {
    let stream = "\u{feff}: hello\r\nevent: message_start\r\ndata: {\"a\":\r\ndata:1}\r\n\r\n\
                  retry: 3\nid: 9\n\nevent: error\ndata: x\n\nevent: ping\n\nerror: boom\n\ndata: é🙂\n\ndata:  two\n\ndata";
    let expected = vec![
        data("{\"a\":\n1}"),
        (true, "x".to_owned()),
        (true, "boom".to_owned()),
        data("é🙂"),
        data(" two"),
        data(""),
    ];
    assert_eq!(all(Framing::Events, &[stream.as_bytes()]), expected);
    for at in 0..stream.len() {
        let (left, right) = stream.as_bytes().split_at(at);
        assert_eq!(all(Framing::Events, &[left, right]), expected, "at {at}");
    }
    let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
    assert_eq!(all(Framing::Events, &bytes), expected);
}

#[test]
fn lines_are_cut_at_line_ends_and_the_last_needs_none() {
    let stream = "{\"a\":1}\r\n\n  \n{\"b\":\"é\"}\n{\"c\":3}";
    let expected = vec![data("{\"a\":1}"), data("{\"b\":\"é\"}"), data("{\"c\":3}")];
    for at in 0..stream.len() {
        let (left, right) = stream.as_bytes().split_at(at);
        assert_eq!(all(Framing::Lines, &[left, right]), expected, "at {at}");
    }
}

#[test]
fn a_frame_has_a_largest_size() {
    for (framing, prefix) in [(Framing::Lines, ""), (Framing::Events, "data: ")] {
        let room = FRAME_BYTES_MAX - prefix.len();
        let mut frames = Frames::new(framing);
        frames.push(format!("{prefix}{}\n\n", "x".repeat(room)).as_bytes());
        assert_eq!(frames.next().unwrap().unwrap().data.len(), room);
        frames.push(format!("{prefix}{}", "x".repeat(room + 1)).as_bytes());
        assert_eq!(frames.next(), Err(TooLong), "unfinished");
        let mut frames = Frames::new(framing);
        frames.push(format!("{prefix}{}\n", "x".repeat(room + 1)).as_bytes());
        assert_eq!(frames.next(), Err(TooLong), "finished");
    }
    let mut frames = Frames::new(Framing::Events);
    let line = format!("data: {}\n", "x".repeat(FRAME_BYTES_MAX / 2));
    frames.push(line.repeat(3).as_bytes());
    assert_eq!(frames.next(), Err(TooLong), "of several lines");
}
