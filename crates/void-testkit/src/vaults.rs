//! Folders of Markdown: one as people keep them, with everything odd that was ever found in one, and random ones.

use std::collections::BTreeMap;

use void_domain::limits::{FRONT_MATTER_BYTES_MAX, PAGE_BYTES_MAX};

/// What the files of a folder hold, by their paths.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// splitmix64: the same trials on every run.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("a small number");
        usize::try_from(self.next() % bound).expect("a small number")
    }

    pub fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all.get(self.below(all.len())).expect("one of them")
    }
}

/// As people keep one, with everything odd that was ever found in one.
pub fn vault() -> Tree {
    let long_front = format!("---\nx: {}\n---\nwords", "y".repeat(FRONT_MATTER_BYTES_MAX));
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("Welcome home.md", b"# Hi\n\nSee [[Caddy notes|the proxy]].\n".to_vec()),
        (
            "Lab/Caddy notes.md",
            b"---\ntags: [proxy]\naliases:\n  - Reverse proxy\nmine: {a: [b]} # kept\n---\n\
              ![[rack photo.png]] and [a link](../Welcome%20home.md) and [[Welcome home#Hi]]\n"
                .to_vec(),
        ),
        (
            "Lab/Renew the certificate.md",
            b"---\nkind: task\nstatus: open\ndue: 2026-12-31\ntags:\n- TLS\n- lab\n---\nSee [[Caddy notes]].\n"
                .to_vec(),
        ),
        (
            "Web/page.md",
            b"---\nkind: ref\ntitle: A page of the web\nurl: https://a.example/x?y=1\n\
              captured_at: 2026-11-01T04:00:00Z\norigin: foreign\ntags: read\n---\nIts words.\n"
                .to_vec(),
        ),
        ("Lab/img/rack photo.png", b"\x89PNG\r\n\x1a\n\0picture".to_vec()),
        ("windows.md", b"one\r\ntwo\r\n".to_vec()),
        ("mixed.md", b"one\r\ntwo\nthree\rfour".to_vec()),
        ("marked.md", b"\xef\xbb\xbf---\r\ntitle: With a mark\r\n---\r\nwords\r\n".to_vec()),
        ("Gr\u{fc}\u{df}e/\u{65e5}\u{672c} \u{1f600}.md", "\u{65e5}\u{672c}\u{8a9e}\n".as_bytes().to_vec()),
        ("u\u{308}.md", b"decomposed".to_vec()),
        ("broken front.md", b"---\ntitle: [x\nno field\n---\nwords\n".to_vec()),
        ("never closed.md", b"---\ntitle: x\n".to_vec()),
        ("long front.md", long_front.into_bytes()),
        ("latin1.md", b"caf\xe9\n".to_vec()),
        ("nul.md", b"a\0b".to_vec()),
        ("too long.md", vec![b'x'; PAGE_BYTES_MAX + 1]),
        ("just fits.md", vec![b'x'; PAGE_BYTES_MAX]),
        ("links.md", "[[Welcome home]] ".repeat(20_000).into_bytes()),
        ("loop a.md", b"[[loop b]]".to_vec()),
        ("loop b.md", b"![[loop a]] [[loop b]]".to_vec()),
        ("empty.md", Vec::new()),
        ("empty", Vec::new()),
        ("back\\slash.md", b"named for another system".to_vec()),
        ("line\nfeed.png", b"picture".to_vec()),
        ("board.canvas", b"{\"nodes\":[]}".to_vec()),
        ("CON.md", b"a device elsewhere".to_vec()),
        ("dots...md", b"dots".to_vec()),
        ("--- x.md", b"--- x\n".to_vec()),
        ("tagged.md", b"---\ntags: [\"not a tag!\", ok, OK]\n---\nx".to_vec()),
        ("odd task.md", b"---\nkind: task\nstatus: odd\n---\nx".to_vec()),
        (
            "many tags task.md",
            format!("---\nkind: task\ntags: [{}]\n---\nx", "a b, c, ".repeat(60)).into_bytes(),
        ),
    ];
    let file = |(path, bytes): (&str, Vec<u8>)| (path.to_owned(), bytes);
    files.into_iter().map(file).collect()
}

/// A file of pieces that trip readers: marks, line ends, quotes, links, halves of characters.
fn bytes(random: &mut Random) -> Vec<u8> {
    let pieces: &[&[u8]] = &[
        b"---",
        b"---\n",
        b"---\r\n",
        b"\n",
        b"\r\n",
        b"\r",
        b"\xef\xbb\xbf",
        b"title: A\n",
        b"title: 'it''s' # x\r\n",
        b"tags: [a, \"b c\"]\n",
        b"tags:\n- a\n  - b\n",
        b"kind: task\n",
        b"status: done\n",
        b"status: odd\n",
        b"due: 2026-12-31\n",
        b"due: 2026-02-30\n",
        b"kind: ref\n",
        b"url: https://a.example/\n",
        b"url: https://u@a.example/\n",
        b"url: HTTPS://a.example\n",
        b"origin: foreign\n",
        b"captured_at: yesterday\n",
        b"\tx: y\n",
        b"[[A|b]]",
        b"![[img.png]]",
        b"```\n",
        b"\xc3\xbc",
        b"\xe2\x80\xae",
        b"word ",
    ];
    let broken: &[&[u8]] = &[b"\xff", b"\0", b"\xed\xa0\x80"];
    let mut bytes = Vec::new();
    if random.below(2) == 0 {
        bytes.extend_from_slice(random.pick(&[&b"---\n"[..], b"---\r\n", b"\xef\xbb\xbf---\n"]));
    }
    for _ in 0..random.below(14) {
        bytes.extend_from_slice(random.pick(pieces));
    }
    if random.below(3) == 0 {
        bytes.extend_from_slice(b"---\nwords\n");
    }
    if random.below(12) == 0 {
        bytes.extend_from_slice(random.pick(broken));
    }
    bytes
}

pub fn random_tree(random: &mut Random) -> Tree {
    let folders = ["", "", "Lab/", "Lab/deep/", "Gr\u{fc}\u{df}e/", "a b/"];
    let names = [
        "A",
        "B",
        "Caddy notes",
        "\u{65e5}\u{672c}",
        "a'b\"c",
        "con",
        "x",
        "y",
    ];
    let extensions = [".md", ".md", ".md", ".MD", ".png", ""];
    let mut tree = Tree::from([("always.md".to_owned(), b"always one".to_vec())]);
    for _ in 0..random.below(14) {
        let folder = random.pick(&folders);
        let (name, extension) = (random.pick(&names), random.pick(&extensions));
        tree.insert(format!("{folder}{name}{extension}"), bytes(random));
    }
    tree
}
