import CLarderSystem
import LarderSystem

extension Environment {
  /// A change of an open environment's files by another program.
  package enum FileProblem: Sendable, Equatable {
    /// The directory, the data file or the lock file is not at its path any more.
    case missing
    /// Another file is at the path of the data file or the lock file.
    case replaced
    /// The directory or a file in it may not be written any more, for this reason.
    case unwritable(LMDBError)
  }

  /// Looks at the files' paths; nil if they are as they were when the environment was opened.
  package func fileProblem(needsWriting: Bool) -> FileProblem? {
    guard let data = FileStatus.of(files.data), let lock = FileStatus.of(files.lock)
    else { return .missing }
    guard FileIdentity(data) == identity, data.st_nlink == 1, FileIdentity(lock) == lockIdentity
    else { return .replaced }
    guard needsWriting else { return nil }
    for (path, mode) in [(files.directory, W_OK | X_OK), (files.data, W_OK), (files.lock, W_OK)]
    where unsafe larder_access(path, mode) != 0 {
      let reason = LMDBError.last
      // The files may have been moved since they were looked at.
      return reason.code == ENOENT ? .missing : .unwritable(reason)
    }
    return nil
  }
}
