//! PDFs: the system's reader inside the fences. Where it is not installed, a stand-in is the stranger that it
//! would be to us: it says, ends, floods and fills as a fooled program might.

use std::path::Path;

use void_capture::limits::TEXT_BYTES_MAX;
use void_capture::{ExtractError, ExtractHints, ExtractKind, Extracted, Extractor, Unreadable};

use crate::reading::{PROGRAM, extractor, extractor_by};

async fn read(pdf: &str) -> Result<Extracted, ExtractError> {
    let extractor = extractor_by(PROGRAM);
    extractor
        .document(ExtractKind::Pdf, &ExtractHints::default(), pdf.as_bytes())
        .await
}

#[tokio::test]
async fn the_text_of_a_pdf_is_tidied_like_any_text() {
    let read = read(
        "%PDF-test says\n\u{c}1\n\nManual of the nas\n\n\n\nSee [[Home]]\u{202e}\u{c}Page two",
    )
    .await;
    let read = read.unwrap();
    assert_eq!(read.title.as_deref(), Some("Manual of the nas"));
    assert_eq!(
        read.text,
        "1\n\nManual of the nas\n\nSee [\\[Home]]\nPage two"
    );
    assert!(!read.cut);
}

#[tokio::test]
async fn a_pdf_of_pictures_is_unreadable_and_called_so() {
    for scan in [
        "%PDF-test says\n",
        "%PDF-test says\n\u{c}\u{c}\u{c}",
        "%PDF-test says\n1\u{c}2\u{c}3",
    ] {
        let refused = read(scan).await.unwrap_err();
        assert!(refused.to_string().contains("unreadable"), "{refused}");
        assert!(matches!(
            refused,
            ExtractError::Unreadable(Unreadable::PdfWithoutText)
        ));
    }
}

#[tokio::test]
async fn the_ways_in_which_a_reader_ends_are_told_apart() {
    for (code, expected) in [
        (1, Unreadable::PdfBroken),
        (3, Unreadable::PdfLocked),
        (99, Unreadable::PdfBroken),
    ] {
        let refused = read(&format!("%PDF-test ends {code}\n")).await;
        let Err(ExtractError::Unreadable(why)) = refused else {
            panic!("{code}: {refused:?}");
        };
        assert_eq!(why, expected, "{code}");
    }
    // One that was fooled into speaking our language cannot say that it read something.
    for report in [
        "{}",
        "{\"document\":{\"title\":null,\"text\":\"evil\",\"language\":null,\"cut\":false}}",
    ] {
        let refused = read(&format!("%PDF-test reports\n{report}")).await;
        assert!(matches!(refused, Err(ExtractError::Garbled)), "{refused:?}");
    }
}

#[tokio::test]
async fn a_reader_that_runs_away_costs_one_failed_capture() {
    let filled = read("%PDF-test fills\n").await;
    assert!(matches!(filled, Err(ExtractError::Died(_))), "{filled:?}");
    let flooded = read("%PDF-test floods\n").await;
    assert!(matches!(flooded, Err(ExtractError::Garbled)), "{flooded:?}");
    let computed = read("%PDF-test computes\n").await;
    assert!(
        matches!(computed, Err(ExtractError::Died(_))),
        "{computed:?}"
    );
    let long = read(&format!(
        "%PDF-test says\n{}",
        "words ".repeat(TEXT_BYTES_MAX)
    ))
    .await
    .unwrap();
    assert!(long.cut && long.text.len() <= TEXT_BYTES_MAX);
}

#[tokio::test]
async fn without_a_reader_it_is_said_what_to_install() {
    let refused = extractor()
        .document(ExtractKind::Pdf, &ExtractHints::default(), b"%PDF-1.7")
        .await;
    let refused = refused.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "cannot read PDFs here: install poppler-utils"
    );
    assert_eq!(refused.code(), "extract_pdf_reader_missing");
}

/// A whole PDF with one line of text, as small as they come.
fn tiny_pdf(line: &str) -> Vec<u8> {
    let drawn = format!("BT /F1 24 Tf 40 100 Td ({line}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{drawn}\nendstream", drawn.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut pdf = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        offsets.push(pdf.len());
        pdf.extend(format!("{} 0 obj\n{object}\nendobj\n", at + 1).bytes());
    }
    let table = pdf.len();
    pdf.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for offset in offsets {
        pdf.extend(format!("{offset:010} 00000 n \n").bytes());
    }
    pdf.extend(
        format!(
            "trailer << /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n",
            objects.len() + 1
        )
        .bytes(),
    );
    pdf
}

/// With the machine's own reader where there is one, and its absence said where there is none.
#[tokio::test]
async fn the_machines_own_reader_reads_or_is_missing() {
    let own = Extractor::new(PROGRAM.into(), vec!["extract".into()]);
    let pdf = tiny_pdf("Backups at home");
    let read = own
        .document(ExtractKind::Pdf, &ExtractHints::default(), &pdf)
        .await;
    if own
        .pdf_readers
        .iter()
        .any(|reader| Path::new(reader).exists())
    {
        assert_eq!(read.unwrap().text, "Backups at home");
    } else {
        assert_eq!(read.unwrap_err().code(), "extract_pdf_reader_missing");
    }
}
