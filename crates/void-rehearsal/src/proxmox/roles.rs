//! The privileges of Proxmox VE 8 and the roles it ships that matter for guests, as in
//! `PVE/AccessControl.pm` of libpve-access-control 8.2.

/// Everything that `root@pam` may do on every path.
pub const ADMINISTRATOR: &[&str] = &[
    "Permissions.Modify",
    "VM.Config.Disk",
    "VM.Config.CPU",
    "VM.Config.Memory",
    "VM.Config.Network",
    "VM.Config.HWType",
    "VM.Config.Options",
    "VM.Allocate",
    "VM.Clone",
    "VM.Migrate",
    "VM.Monitor",
    "VM.Snapshot",
    "VM.Snapshot.Rollback",
    "VM.Config.CDROM",
    "VM.Config.Cloudinit",
    "VM.Console",
    "VM.Backup",
    "VM.PowerMgmt",
    "VM.Audit",
    "Sys.PowerMgmt",
    "Sys.Modify",
    "Sys.Incoming",
    "Sys.AccessNetwork",
    "Sys.Console",
    "Sys.Syslog",
    "Sys.Audit",
    "Datastore.Allocate",
    "Datastore.AllocateTemplate",
    "Datastore.AllocateSpace",
    "Datastore.Audit",
    "SDN.Allocate",
    "SDN.Audit",
    "SDN.Use",
    "Realm.Allocate",
    "Realm.AllocateUser",
    "User.Modify",
    "Group.Allocate",
    "Pool.Allocate",
    "Pool.Audit",
    "Mapping.Modify",
    "Mapping.Use",
    "Mapping.Audit",
];

pub const PVE_VM_ADMIN: &[&str] = &[
    "VM.Config.Disk",
    "VM.Config.CPU",
    "VM.Config.Memory",
    "VM.Config.Network",
    "VM.Config.HWType",
    "VM.Config.Options",
    "VM.Allocate",
    "VM.Clone",
    "VM.Migrate",
    "VM.Monitor",
    "VM.Snapshot",
    "VM.Snapshot.Rollback",
    "VM.Config.CDROM",
    "VM.Config.Cloudinit",
    "VM.Console",
    "VM.Backup",
    "VM.PowerMgmt",
    "VM.Audit",
];

pub const PVE_VM_USER: &[&str] = &[
    "VM.Config.CDROM",
    "VM.Config.Cloudinit",
    "VM.Console",
    "VM.Backup",
    "VM.PowerMgmt",
    "VM.Audit",
];

pub const PVE_AUDITOR: &[&str] = &[
    "VM.Audit",
    "Sys.Audit",
    "Datastore.Audit",
    "SDN.Audit",
    "Pool.Audit",
    "Mapping.Audit",
];

/// Takes away what is inherited.
pub const NO_ACCESS: &[&str] = &[];
