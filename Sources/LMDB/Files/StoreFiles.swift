import CLMDB
import CLarderSystem
import LarderSystem

/// Where the files of one environment are, and whether they can be trusted to be ours.
struct StoreFiles: Sendable {
  let directory: String

  var data: String { directory + "/data.mdb" }
  var newData: String { directory + "/data.mdb.new" }
  var lock: String { directory + "/lock.mdb" }
  var boot: String { directory + "/boot" }

  /// The directory with links resolved, so that one store has one path.
  init(resolving path: String) throws(OpenError) {
    guard let resolved = unsafe realpath(path, nil) else {
      throw OpenError(.absent, path: path, cause: LMDBError(code: larder_errno()))
    }
    defer { unsafe free(resolved) }
    directory = unsafe String(cString: resolved)
  }

  /// Makes the directory, private to the user; its parent must exist.
  static func makeDirectory(_ path: String) throws(OpenError) {
    if unsafe mkdir(path, 0o700) == 0 { return }
    let code = larder_errno()
    if code == EEXIST { return }
    throw OpenError(
      code == ENOENT ? .absentParent : .system, path: path, cause: LMDBError(code: code))
  }

  var hasData: Bool { FileStatus.of(data).map { $0.st_size > 0 } ?? false }

  /// Whether anything but files of our own is here.
  func isEmptyBesidesLocks() throws(OpenError) -> Bool {
    guard let stream = unsafe opendir(directory) else { throw systemError(directory) }
    defer { unsafe closedir(stream) }
    let ours = Set(
      StoreLocks.names + MappedFile.names + [
        ".", "..", "data.mdb", "data.mdb.new", "lock.mdb", "boot",
      ])
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !ours.contains(name) { return false }
    }
    return true
  }

  /// Refuses files that somebody else owns or could change, links, and file systems on which locks cannot be trusted.
  func inspect(allowing: EnvironmentOptions) throws(OpenError) {
    guard let status = FileStatus.of(directory) else { throw systemError(directory) }
    if status.st_mode & mode_t(S_IFMT) != mode_t(S_IFDIR) {
      throw OpenError(.notADirectory, path: directory)
    }
    if unsafe larder_access(directory, R_OK | W_OK | X_OK) != 0 { throw systemError(directory) }
    try inspectOwner(status, directory, forbidden: 0o022, allowing)
    for file in [data, lock, boot] + StoreLocks.names.map({ directory + "/" + $0 }) {
      guard let status = FileStatus.of(file) else { continue }
      if status.st_mode & mode_t(S_IFMT) != mode_t(S_IFREG) {
        throw OpenError(.notAFile, path: file)
      }
      if status.st_nlink != 1 { throw OpenError(.linked, path: file) }
      if unsafe larder_access(file, R_OK | W_OK) != 0 { throw systemError(file) }
      try inspectOwner(status, file, forbidden: 0o077, allowing)
    }
    if !allowing.networkFileSystem, isOnNetwork {
      throw OpenError(.networkFileSystem, path: directory)
    }
  }

  private func inspectOwner(
    _ status: stat, _ path: String, forbidden: mode_t, _ allowing: EnvironmentOptions
  ) throws(OpenError) {
    if status.st_uid != geteuid() {
      if !allowing.foreignOwner { throw OpenError(.foreignOwner, path: path) }
    } else if status.st_mode & forbidden != 0 {
      throw OpenError(.exposed, path: path)
    }
  }

  private var isOnNetwork: Bool {
    var system = statfs()
    guard unsafe statfs(directory, &system) == 0 else { return false }
    #if canImport(Darwin)
      return system.f_flags & UInt32(MNT_LOCAL) == 0
    #else
      // NFS, SMB, SMB2, CIFS, FUSE, 9P, Ceph, AFS (linux/magic.h).
      let network: Set<UInt32> = [
        0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400,
        0x5346_414F,
      ]
      return network.contains(UInt32(truncatingIfNeeded: system.f_type))
    #endif
  }

  func systemError(_ path: String) -> OpenError {
    OpenError(.system, path: path, cause: LMDBError(code: larder_errno()))
  }
}
