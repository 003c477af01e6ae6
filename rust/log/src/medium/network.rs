//! Telling network file systems from local ones.
//!
//! A store wants a local one: elsewhere `flock` may not keep other machines out, and what the tip says of the operating system's
//! runs is that of one machine.

use std::io;
use std::path::Path;

/// Magic numbers of `statfs` on Linux, with the names people know them by. FUSE is not among them: most of it is local.
#[cfg(any(target_os = "linux", test))]
const MAGIC: [(u32, &str); 14] = [
    (0x0000_6969, "NFS"),
    (0x0000_517B, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB"),
    (0x5346_414F, "AFS"),
    (0x6B41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0000_564C, "NCP"),
    (0x00C3_6400, "Ceph"),
    (0x0102_1997, "9P"),
    (0x7461_636F, "OCFS2"),
    (0x0116_1970, "GFS2"),
    (0x0BD0_0BD0, "Lustre"),
    (0x4750_4653, "GPFS"),
];

/// Returns the name of the network file system with this magic number; `None` for any other file system.
#[cfg(any(target_os = "linux", test))]
fn named(magic: u32) -> Option<&'static str> {
    MAGIC.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

/// Returns the name of the network file system that holds `path`, which must exist; `None` for a local one.
#[cfg(target_os = "linux")]
pub fn network_file_system(path: &Path) -> io::Result<Option<&'static str>> {
    // As wide as any platform's, of which only the low half is the magic number.
    let magic = i128::from(rustix::fs::statfs(path)?.f_type) & i128::from(u32::MAX);
    Ok(u32::try_from(magic).ok().and_then(named))
}

/// Returns the name of the network file system that holds `path`, which must exist; `None` for a local one.
#[cfg(target_vendor = "apple")]
pub fn network_file_system(path: &Path) -> io::Result<Option<&'static str>> {
    /// Set where the file system is stored locally.
    const MNT_LOCAL: u32 = 0x1000;
    Ok((rustix::fs::statfs(path)?.f_flags & MNT_LOCAL == 0).then_some("mounted from elsewhere"))
}

/// Nothing is known of other systems.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub fn network_file_system(_path: &Path) -> io::Result<Option<&'static str>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        let network = [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x00C3_6400, 0x0102_1997, 0x0BD0_0BD0];
        assert!(network.into_iter().all(|magic| named(magic).is_some()));
        // ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs, FUSE
        let local = [
            0xEF53,
            0x5846_5342,
            0x9123_683E,
            0x0102_1994,
            0x794C_7630,
            0x2FC1_2FC1,
            0xF2F5_2010,
            0xCA45_1A4E,
            0x6573_5546,
        ];
        assert!(local.into_iter().all(|magic| named(magic).is_none()));
    }

    #[test]
    fn a_path_is_asked_about() {
        assert_eq!(network_file_system(Path::new("/")).unwrap(), None);
        assert!(network_file_system(Path::new("/no/such/folder")).is_err());
    }
}
