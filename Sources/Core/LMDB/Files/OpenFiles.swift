import CLarderSystem
package import LarderSystem
package import Synchronization

/// The open files of an environment. Says whether the open files are still the files at the environment's path.
package final class OpenFiles: Sendable {
  let paths: StoreFiles
  private let locks: StoreLocks
  let identity: FileIdentity
  let lockIdentity: FileIdentity
  /// The directory whose change times are compared. Nil if the process may not write the files, or could not open the directory.
  private let directory: FileDescriptor?
  private let stamp = DirectoryStamp()
  /// Nil if the process does not use the write buffer.
  package let slots = Mutex<ProcessSlots?>(nil)

  init(_ paths: StoreFiles, locks: StoreLocks) throws(LMDBError) {
    guard let data = FileStatus.of(paths.data) else { throw .replaced }
    self.paths = paths
    self.locks = locks
    identity = FileIdentity(data)
    // A process without permission to write may open a store without lock.mdb. Then this property identifies the data file.
    lockIdentity = FileIdentity(FileStatus.of(paths.lock) ?? data)
    directory = locks.isWritable ? Self.locked(paths.directory) : nil
  }

  /// Opens a directory with a shared lock, if possible. `systemd-tmpfiles` deletes files below `/tmp` that did not change for ten
  /// days, such as lock files, but no files of a directory that a process has locked.
  private static func locked(_ path: String) -> FileDescriptor? {
    guard let directory = FileDescriptor.reading(path) else { return nil }
    _ = larder_flock(directory.number, LOCK_SH | LOCK_NB)
    return directory
  }

  /// Throws if the open files are not at the path any more. Returns the size of the data file. The caller owns the writer lock.
  @discardableResult
  func check(_ handle: OpaquePointer) throws(LMDBError) -> Int {
    guard let data = unsafe FileStatus.of(dataDescriptor(of: handle)), data.st_nlink == 1,
      stamp.check(
        directoryChange, monotonic: SystemTime.coarseMonotonicMilliseconds,
        wall: SystemTime.coarseMilliseconds, { isAtPath })
    else { throw .replaced }
    return Int(data.st_size)
  }

  private var isAtPath: Bool {
    guard let data = FileStatus.of(paths.data), FileIdentity(data) == identity,
      let lock = FileStatus.of(paths.lock), FileIdentity(lock) == lockIdentity
    else { return false }
    // If a lock file was deleted, other processes lock a new file, so this process's lock does not exclude them.
    return !locks.open.isDeleted && !locks.reading.isDeleted && hasSlots
  }

  private var hasSlots: Bool { slots.withLock { $0?.isFile(in: paths.directory) != false } }

  private var directoryChange: DirectoryStamp.Change? {
    switch directory {
    case .some(let directory): directory.status.map(DirectoryStamp.Change.init)
    case .none: nil
    }
  }

  package enum Problem: Sendable, Equatable {
    /// The directory, the data file, a lock file or the file `recovery` is not at its path any more.
    case missing
    /// Another file is at the path of the data file or of lock.mdb.
    case replaced
    /// The process may not write the directory or a file in it any more. The error says why.
    case unwritable(LMDBError)
  }

  func problem(needsWriting: Bool, recovery: RecoveryFile?) -> Problem? {
    guard let data = FileStatus.of(paths.data) else { return Self.unreachable(.last) }
    guard FileIdentity(data) == identity, data.st_nlink == 1 else { return .replaced }
    if lockIdentity != identity {
      guard let lock = FileStatus.of(paths.lock) else { return Self.unreachable(.last) }
      guard FileIdentity(lock) == lockIdentity else { return .replaced }
    }
    if locks.areDisplaced(in: paths.directory) || recovery?.isAt(paths.recovery) == false {
      return .missing
    }
    if !hasSlots { return .missing }
    guard needsWriting else { return nil }
    do throws(LMDBError) { try recovery?.checkSynced() } catch { return .unwritable(error) }
    for (path, mode) in [(paths.directory, W_OK | X_OK), (paths.data, W_OK), (paths.lock, W_OK)]
    where unsafe larder_access(path, mode) != 0 {
      // Another program may have moved the files after this process checked them, so the problem may be `missing`.
      return Self.unreachable(.last)
    }
    return nil
  }

  private static func unreachable(_ reason: LMDBError) -> Problem {
    [ENOENT, ENOTDIR].contains(reason.code) ? .missing : .unwritable(reason)
  }
}

/// Says whether a writer must compare the open files with the files at the environment's path.
///
/// The system sets the change time of a directory when a file in it, or the directory itself, is created, removed or renamed.
/// As long as this time does not change, the last comparison is valid, so a write needs one system call instead of six. If a
/// parent directory is renamed, this time does not change, so a comparison is valid only for ``longestTrust``.
final class DirectoryStamp: Sendable {
  /// The longest time for which a comparison is valid, in milliseconds.
  static let longestTrust: Int64 = 100
  /// In milliseconds. File system clocks advance every 1 to 10 ms, so two changes within this interval may get the same time.
  static let clockStep: Int64 = 50

  struct Change: Equatable, Sendable {
    var seconds: Int64
    var nanoseconds: Int64

    /// Whether each later change certainly gets another time. False for a time without a fraction: the clock may count seconds.
    func isSettled(at wall: Int64) -> Bool {
      nanoseconds != 0 && wall - (seconds &* 1000 &+ nanoseconds / 1_000_000) > clockStep
    }
  }

  private let compared = Mutex<(change: Change, at: Int64)?>(nil)

  /// Runs `compare` if its last success is outdated. Returns whether the files are at the path. Times in ms, `wall` from 1970.
  func check(
    _ change: Change?, monotonic: Int64, wall: Int64, _ compare: () throws -> Bool
  ) rethrows -> Bool {
    try compared.withLock { compared in
      if let change, let last = compared, last.change == change,
        monotonic - last.at < Self.longestTrust
      {
        return true
      }
      compared = nil
      guard try compare() else { return false }
      // `change` was read before the comparison. So if a file changes during the comparison, the next write notices that.
      if let change, change.isSettled(at: wall) { compared = (change, monotonic) }
      return true
    }
  }
}

extension DirectoryStamp.Change {
  init(_ directory: stat) {
    #if canImport(Darwin)
      let time = directory.st_ctimespec
    #else
      let time = directory.st_ctim
    #endif
    self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
  }
}
