//! A lab whose services are this test binary.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use void_rehearsal::folder::{self, LabFolder};
use void_rehearsal::services::{self, ServiceError, ServiceKind};

use crate::processes::as_process;

pub(crate) struct Lab {
    folder: LabFolder,
    program: PathBuf,
    args: Vec<OsString>,
    _base: tempfile::TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let (program, args) = as_process("service");
        Self {
            folder: folder::create(base.path()).unwrap(),
            program,
            args,
            _base: base,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn prepare(&self, name: &str, kind: ServiceKind) -> u16 {
        services::prepare(self.path(), name, kind).unwrap()
    }

    pub(crate) fn start(&self, name: &str) -> Result<String, ServiceError> {
        services::start(self.path(), name, &self.program, &self.args)
    }

    pub(crate) fn restart(&self, name: &str) -> Result<String, ServiceError> {
        services::restart(self.path(), name, &self.program, &self.args)
    }

    pub(crate) fn is_up(&self, name: &str) -> bool {
        services::is_up(self.path(), name)
    }
}
