use super::*;

const DIR: &str = "/store/audit";

fn medium() -> Fake {
    Fake::with_dir(DIR)
}

fn path(name: &str) -> PathBuf {
    Path::new(DIR).join(name)
}

fn create(medium: &Fake, name: &str, bytes: &[u8]) -> Box<dyn MediumFile> {
    let file = medium.open(&path(name), Open::Create).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file
}

fn read(medium: &Fake, name: &str) -> Option<Vec<u8>> {
    medium.read(&path(name)).unwrap()
}

/// Writes a file and makes bytes and name durable.
fn settle(medium: &Fake, name: &str, bytes: &[u8]) {
    create(medium, name, bytes).sync().unwrap();
    medium.sync_dir(Path::new(DIR)).unwrap();
}

#[test]
fn a_file_survives_only_when_its_bytes_and_its_name_were_synced() {
    let medium = medium();
    create(&medium, "nothing", b"x");
    create(&medium, "bytes", b"x").sync().unwrap();
    assert_eq!(read(&medium.crash_image(), "bytes"), None, "synced under a name that was not");
    medium.sync_dir(Path::new(DIR)).unwrap();
    create(&medium, "later", b"x").sync().unwrap();
    let image = medium.crash_image();
    assert_eq!(read(&image, "nothing").as_deref(), Some(&b""[..]), "the name alone");
    assert_eq!(read(&image, "bytes").as_deref(), Some(&b"x"[..]));
    assert_eq!(read(&image, "later"), None);
    assert_eq!(read(&medium, "later").as_deref(), Some(&b"x"[..]));
    assert_eq!(read(&medium.copy().crash_image(), "later").as_deref(), Some(&b"x"[..]));
}

#[test]
fn only_what_was_written_before_the_sync_is_durable() {
    let medium = medium();
    settle(&medium, "log", b"aaaa");
    let file = medium.open(&path("log"), Open::Write).unwrap();
    file.write_all_at(b"bb", 3).unwrap();
    file.set_len(4).unwrap();
    assert_eq!(read(&medium, "log").unwrap(), b"aaab");
    assert_eq!(read(&medium.crash_image(), "log").unwrap(), b"aaaa");
    file.sync().unwrap();
    assert_eq!(read(&medium.crash_image(), "log").unwrap(), b"aaab");
    file.write_all_at(b"c", 6).unwrap();
    assert_eq!(read(&medium, "log").unwrap(), b"aaab\0\0c", "a gap reads as zeros");
}

#[test]
fn a_rename_is_undone_by_a_crash_until_the_folder_is_synced() {
    let medium = medium();
    settle(&medium, "old", b"1");
    settle(&medium, "new", b"2");
    let reader = medium.open(&path("new"), Open::Read).unwrap();
    medium.rename(&path("new"), &path("old")).unwrap();
    let image = medium.crash_image();
    assert_eq!((read(&image, "old").unwrap(), read(&image, "new").unwrap()), (b"1".to_vec(), b"2".to_vec()));
    medium.sync_dir(Path::new(DIR)).unwrap();
    let image = medium.crash_image();
    assert_eq!((read(&image, "old").unwrap(), read(&image, "new")), (b"2".to_vec(), None));
    let mut byte = [0];
    reader.read_full_at(&mut byte, 0).unwrap();
    assert_eq!(&byte, b"2");
}

#[test]
fn open_files_outlive_their_names_and_share_their_bytes() {
    let medium = medium();
    let first = create(&medium, "log", b"abc");
    let second = medium.open(&path("log"), Open::Read).unwrap();
    first.write_all_at(b"X", 1).unwrap();
    medium.remove(&path("log")).unwrap();
    assert!(read(&medium, "log").is_none());
    let mut bytes = [0; 3];
    assert_eq!(second.read_full_at(&mut bytes, 0).unwrap(), 3);
    assert_eq!(&bytes, b"aXc");
    assert!(second.write_at(b"x", 0).is_err(), "opened for reading");
}

#[test]
fn a_removal_is_undone_by_a_crash_until_the_folder_is_synced() {
    let medium = medium();
    settle(&medium, "log", b"1");
    medium.remove(&path("log")).unwrap();
    assert!(read(&medium.crash_image(), "log").is_some());
    medium.sync_dir(Path::new(DIR)).unwrap();
    assert!(read(&medium.crash_image(), "log").is_none());
}

#[test]
fn a_folder_is_durable_with_its_parent() {
    let medium = medium();
    medium.create_dir_all(&path("objects")).unwrap();
    settle(&medium, "objects/001.pack", b"1");
    medium.sync_dir(&path("objects")).unwrap();
    let unsynced = Fake::new();
    unsynced.create_dir_all(&path("objects")).unwrap();
    create(&unsynced, "objects/001.pack", b"1").sync().unwrap();
    unsynced.sync_dir(&path("objects")).unwrap();
    assert!(read(&medium.crash_image(), "objects/001.pack").is_some());
    assert!(read(&unsynced.crash_image(), "objects/001.pack").is_none());
    assert!(!medium.remove_dir(&path("objects")).unwrap());
    medium.remove(&path("objects/001.pack")).unwrap();
    assert!(medium.remove_dir(&path("objects")).unwrap());
}

#[test]
fn freezing_kills_the_process_at_that_sync() {
    let medium = medium();
    settle(&medium, "log", b"1");
    medium.freeze_at(2);
    let file = medium.open(&path("log"), Open::Write).unwrap();
    file.write_all_at(b"2", 0).unwrap();
    file.sync().unwrap();
    file.write_all_at(b"3", 0).unwrap();
    assert!(!medium.is_frozen());
    assert!(file.sync().is_err());
    assert!(medium.is_frozen());
    assert!(file.sync().is_err());
    assert!(file.write_at(b"4", 0).is_err());
    assert!(medium.open(&path("log"), Open::Read).is_err());
    let image = medium.crash_image();
    assert_eq!(read(&image, "log").unwrap(), b"2");
    settle(&image, "log", b"5");
}

#[test]
fn early_writes_leave_prefixes_or_sectors_of_what_was_not_synced() {
    let medium = medium();
    settle(&medium, "log", &[1; 700]);
    let file = medium.open(&path("log"), Open::Write).unwrap();
    file.write_all_at(&[2; 2000], 700).unwrap();
    medium.rename(&path("log"), &path("sealed")).unwrap();
    medium.freeze_at(1);
    assert!(file.sync().is_err());
    let (mut lengths, mut renamed, mut holes) = (std::collections::BTreeSet::new(), 0, 0);
    for seed in 0..200 {
        let image = medium.crash_image_with(seed);
        let names = image.list(Path::new(DIR)).unwrap();
        assert_eq!(names.len(), 1, "a rename inside one folder is whole");
        renamed += usize::from(names[0] == "sealed");
        let bytes = read(&image, &names[0]).unwrap();
        assert_eq!(bytes, read(&medium.crash_image_with(seed), &names[0]).unwrap(), "the seed decides");
        assert!(bytes[..700].iter().all(|&byte| byte == 1), "what was durable stays");
        let torn = &bytes[700..];
        holes += usize::from(torn.contains(&0));
        assert!(torn.iter().all(|byte| [0, 2].contains(byte)));
        assert!(!torn.contains(&0) || torn[324..].chunks(512).all(|sector| sector.iter().all(|b| *b == sector[0])));
        lengths.insert(bytes.len());
    }
    assert!(lengths.len() > 20 && lengths.contains(&700) && lengths.contains(&2700), "{lengths:?}");
    assert!(renamed > 50 && renamed < 150, "{renamed}");
    assert!(holes > 10, "{holes}");
}

#[test]
fn a_fault_strikes_the_nth_operation_of_its_kind_once_or_for_ever() {
    let medium = medium();
    medium.fail(Fault::nth(Op::Write, 2).kind(io::ErrorKind::StorageFull).partial().on("log"));
    let other = create(&medium, "other", b"12345678");
    let file = create(&medium, "log", b"12345678");
    let error = file.write_at(b"abcdefgh", 8).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(read(&medium, "log").unwrap(), b"12345678abcd", "half of it was written");
    file.write_all_at(b"abcdefgh", 8).unwrap();
    medium.fail(Fault::nth(Op::Rename, 1).lasting());
    for _ in 0..3 {
        assert!(medium.rename(&path("log"), &path("log2")).is_err());
    }
    medium.clear_faults();
    medium.rename(&path("log"), &path("log2")).unwrap();
    medium.fail(Fault::nth_change(2));
    other.len().unwrap();
    other.write_at(b"x", 0).unwrap();
    assert!(other.sync().is_err());
    medium.fail(Fault::nth(Op::Open, 1));
    assert!(medium.open(&path("log2"), Open::Read).is_err());
    medium.fail(Fault::nth(Op::Read, 1));
    assert!(medium.read(&path("log2")).is_err());
    assert_eq!(read(&medium, "log2").unwrap(), b"12345678abcdefgh");
}

#[test]
fn what_a_failed_sync_lost_a_later_one_does_not_bring_back() {
    let medium = medium();
    settle(&medium, "log", b"1");
    let file = medium.open(&path("log"), Open::Write).unwrap();
    file.write_all_at(b"2", 0).unwrap();
    medium.fail(Fault::nth(Op::Sync, 1));
    assert!(file.sync().is_err());
    file.write_all_at(b"3", 1).unwrap();
    file.sync().unwrap();
    assert_eq!(read(&medium, "log").unwrap(), b"23");
    assert_eq!(read(&medium.crash_image(), "log").unwrap(), b"13");
}

#[test]
fn short_writes_write_a_part() {
    let medium = medium();
    medium.write_short(7);
    let bytes: Vec<u8> = (0..=255).collect();
    let file = create(&medium, "log", &bytes);
    assert_eq!(read(&medium, "log").unwrap(), bytes, "write_all_at goes on");
    assert!(medium.counts_of("log").writes > 1);
    assert!((0..200).any(|_| file.write_at(&bytes, 0).unwrap() < 100));
}

#[test]
fn operations_are_counted_by_path() {
    let medium = medium();
    settle(&medium, "log", b"12345");
    let mut buf = [0; 3];
    let file = medium.open(&path("log"), Open::Read).unwrap();
    file.read_full_at(&mut buf, 3).unwrap();
    let counts = medium.counts_of("audit/log");
    assert_eq!((counts.opens, counts.writes, counts.syncs), (2, 1, 1));
    assert_eq!((counts.reads, counts.bytes_read, counts.bytes_written), (2, 2, 5));
    assert_eq!(medium.counts().syncs, 2);
    assert_eq!(medium.synced(), [path("log"), PathBuf::from(DIR)]);
    assert_eq!(medium.changes(), 5);
    medium.reset_counts();
    file.read_at(&mut buf, 0).unwrap();
    assert_eq!(medium.counts_of("log"), Counts { reads: 1, bytes_read: 3, ..Counts::default() });
    assert!(medium.synced().is_empty() && medium.changes() == 0);
}

#[test]
fn it_answers_like_a_file_system() {
    let medium = medium();
    let missing = medium.open(&path("none"), Open::Read).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    assert_eq!(medium.open(Path::new("/no/dir"), Open::Create).unwrap_err().kind(), io::ErrorKind::NotFound);
    settle(&medium, "log", b"1");
    let before = medium.stat(&path("log")).unwrap().unwrap();
    assert_eq!(medium.open(&path("log"), Open::CreateNew).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(medium.stat(&path("log")).unwrap().unwrap(), before);
    create(&medium, "log", b"2");
    assert_ne!(medium.stat(&path("log")).unwrap().unwrap().version, before.version);
    assert!(medium.stat(Path::new(DIR)).unwrap().unwrap().is_dir);
    assert_eq!(medium.stat(&path("none")).unwrap(), None);
    assert_eq!(medium.list(Path::new("/store")).unwrap(), ["audit"]);
    assert!(medium.list(Path::new("/none")).unwrap().is_empty());
    assert!(medium.rename(&path("none"), &path("log")).is_err());
    medium.remove(&path("none")).unwrap();
    assert!(medium.open(Path::new("/store/../x"), Open::Create).is_err());
}
