//! A QR code for the terminal, in half blocks: two modules above each other in one character, with the four light
//! modules around it that scanners want. In colour it is black on white whatever the terminal's own colours are;
//! without colour the light modules are drawn, as for a dark terminal (most phones read the other way round too).

use qrcode::{Color, EcLevel, QrCode};

/// The light border, in modules.
const QUIET: usize = 4;
/// Black on white from the part of the palette that no theme changes.
const BLACK_ON_WHITE: &str = "\u{1b}[38;5;16;48;5;231m";
const PLAIN: &str = "\u{1b}[0m";

pub(crate) struct Code {
    /// Modules of one side, without the border.
    side: usize,
    modules: Vec<Color>,
}

impl Code {
    /// `None` for more than a QR code can hold. A screen has no dirt: the least error correction makes the
    /// smallest code.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
        Some(Self {
            side: code.width(),
            modules: code.into_colors(),
        })
    }

    pub(crate) const fn columns(&self) -> usize {
        self.side + 2 * QUIET
    }

    pub(crate) fn lines(&self, is_colored: bool) -> Vec<String> {
        let all = self.columns();
        (0..all)
            .step_by(2)
            .map(|y| {
                let blocks = (0..all).map(|x| {
                    block(
                        self.is_dark(x, y) == is_colored,
                        self.is_dark(x, y + 1) == is_colored,
                    )
                });
                let blocks: String = blocks.collect();
                match is_colored {
                    true => format!("{BLACK_ON_WHITE}{blocks}{PLAIN}"),
                    false => blocks,
                }
            })
            .collect()
    }

    /// Whether a module is dark, counted from the border's corner; beside the code everything is light.
    fn is_dark(&self, x: usize, y: usize) -> bool {
        let inside = |at: usize| at.checked_sub(QUIET).filter(|at| *at < self.side);
        let (Some(x), Some(y)) = (inside(x), inside(y)) else {
            return false;
        };
        self.modules.get(y * self.side + x) == Some(&Color::Dark)
    }
}

const fn block(upper: bool, lower: bool) -> char {
    match (upper, lower) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: usize = 4;

    /// What a camera sees of the lines, by a decoder that knows nothing of how they were made.
    fn scanned(lines: &[String], is_colored: bool) -> String {
        let rows: Vec<Vec<bool>> = lines
            .iter()
            .flat_map(|line| {
                let line = line.strip_prefix(BLACK_ON_WHITE).unwrap_or(line);
                let line = line.strip_suffix(PLAIN).unwrap_or(line);
                let half = |blocks: [char; 2]| {
                    line.chars()
                        .map(|block| blocks.contains(&block) == is_colored)
                        .collect()
                };
                [half(['█', '▀']), half(['█', '▄'])]
            })
            .collect();
        let side = rows[0].len();
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(
            side * SCALE,
            rows.len() * SCALE,
            |x, y| if rows[y / SCALE][x / SCALE] { 0 } else { 255 },
        );
        let grids = image.detect_grids();
        assert_eq!(grids.len(), 1, "one code is seen");
        grids[0].decode().unwrap().1
    }

    #[test]
    fn a_phone_reads_the_text_back_in_both_looks() {
        let link = format!("http://192.168.178.231:3000/#/setup/{}", "aB3_-".repeat(9));
        let long = format!(
            "https://{}.example/#/setup/{}",
            "void-".repeat(40),
            "x".repeat(43)
        );
        for text in ["x", link.as_str(), long.as_str()] {
            let code = Code::of(text).unwrap();
            for is_colored in [true, false] {
                let lines = code.lines(is_colored);
                assert_eq!(scanned(&lines, is_colored), text);
                assert_eq!(lines.len(), code.columns().div_ceil(2));
                for line in lines {
                    assert_eq!(crate::fitting::columns(&line), code.columns());
                }
            }
        }
    }

    #[test]
    fn an_ordinary_link_fits_an_ordinary_terminal() {
        let link = format!("http://192.168.178.231:3000/#/setup/{}", "a".repeat(43));
        let code = Code::of(&link).unwrap();
        assert!(code.columns() <= 80 && code.lines(true).len() <= 24);
        assert!(Code::of(&"x".repeat(3000)).is_none());
    }

    #[test]
    fn around_the_code_it_is_light() {
        let lines = Code::of("x").unwrap().lines(true);
        let edge = format!(
            "{BLACK_ON_WHITE}{}{PLAIN}",
            " ".repeat(Code::of("x").unwrap().columns())
        );
        assert_eq!(lines[..2], [edge.clone(), edge]);
        let plain = Code::of("x").unwrap().lines(false);
        assert!(plain[0].chars().all(|block| block == '█'));
        assert!(
            plain
                .iter()
                .all(|line| line.starts_with("████") && line.ends_with("████"))
        );
    }
}
