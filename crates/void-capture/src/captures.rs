//! A capture: a URL becomes text that is kept. Fetching and reading are bounded one by one and together, and
//! so is how many there are at once.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

use crate::documents::{DocumentKind, Fetched};
use crate::errors::CaptureError;
use crate::extractors::{ExtractError, Extractor};
use crate::fetches::Fetcher;
use crate::limits::{CAPTURES_AT_ONCE_MAX, CAPTURES_WAITING_MAX};
use crate::reports::{Bookmarks, ExtractHints, ExtractKind, Extracted, Unreadable};

/// What became of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Where the document came from in the end.
    pub url: String,
    pub kind: DocumentKind,
    /// `None`: a PDF of pictures. It is worth keeping, and there is nothing to read in it.
    pub extracted: Option<Extracted>,
    /// The document as it came.
    pub source: Vec<u8>,
}

/// One for the whole server: it counts.
#[derive(Clone)]
pub struct Captures {
    fetcher: Fetcher,
    extractor: Extractor,
    running: Arc<Semaphore>,
    admitted: Arc<Semaphore>,
}

impl Captures {
    #[must_use]
    pub fn new(fetcher: Fetcher, extractor: Extractor) -> Self {
        let admitted = CAPTURES_AT_ONCE_MAX + CAPTURES_WAITING_MAX;
        Self {
            fetcher,
            extractor,
            running: Arc::new(Semaphore::new(CAPTURES_AT_ONCE_MAX)),
            admitted: Arc::new(Semaphore::new(admitted)),
        }
    }

    /// What reads the bytes.
    #[must_use]
    pub fn extractor(&self) -> &Extractor {
        &self.extractor
    }

    /// How many are running or waiting for their turn.
    #[must_use]
    pub fn under_way(&self) -> usize {
        let all = CAPTURES_AT_ONCE_MAX + CAPTURES_WAITING_MAX;
        all.saturating_sub(self.admitted.available_permits())
    }

    pub async fn capture(&self, url: &str) -> Result<Captured, CaptureError> {
        self.in_turn(self.fetch_and_read(url)).await
    }

    /// The text of bytes that were handed in instead of fetched; `None`: a PDF of pictures.
    pub async fn read(
        &self,
        kind: DocumentKind,
        bytes: &[u8],
    ) -> Result<Option<Extracted>, CaptureError> {
        let hints = ExtractHints::default();
        self.in_turn(self.extract(kind, &hints, bytes)).await
    }

    /// What an export of Karakeep holds.
    pub async fn karakeep(&self, bytes: &[u8]) -> Result<Bookmarks, CaptureError> {
        let reading = async { Ok(self.extractor.karakeep(bytes).await?) };
        self.in_turn(reading).await
    }

    /// Does it when it is its turn, and no longer than one capture may last.
    async fn in_turn<T>(
        &self,
        work: impl Future<Output = Result<T, CaptureError>>,
    ) -> Result<T, CaptureError> {
        let admitted = self.admitted.try_acquire();
        let _admitted = admitted.map_err(|_| CaptureError::Busy)?;
        let whole = self.fetcher.patience().whole;
        let turn = timeout(whole, self.running.acquire()).await;
        let Ok(Ok(_running)) = turn else {
            return Err(CaptureError::Busy);
        };
        let done = timeout_at(Instant::now() + whole, work).await;
        done.unwrap_or(Err(CaptureError::TimedOut))
    }

    async fn fetch_and_read(&self, url: &str) -> Result<Captured, CaptureError> {
        let Fetched {
            url,
            kind,
            charset,
            bytes,
        } = self.fetcher.fetch(url).await?;
        let hints = ExtractHints {
            url: Some(url.clone()),
            charset,
        };
        let extracted = self.extract(kind, &hints, &bytes).await?;
        Ok(Captured {
            url,
            kind,
            extracted,
            source: bytes,
        })
    }

    async fn extract(
        &self,
        kind: DocumentKind,
        hints: &ExtractHints,
        bytes: &[u8],
    ) -> Result<Option<Extracted>, CaptureError> {
        let read_as = match kind {
            DocumentKind::Html => ExtractKind::Html,
            DocumentKind::Text => ExtractKind::Text,
            DocumentKind::Pdf => ExtractKind::Pdf,
        };
        match self.extractor.document(read_as, hints, bytes).await {
            Ok(extracted) => Ok(Some(extracted)),
            Err(ExtractError::Unreadable(Unreadable::PdfWithoutText)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
