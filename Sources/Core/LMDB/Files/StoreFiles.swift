import CLarderSystem
import LarderSystem

struct StoreFiles: Sendable {
  let directory: String
  // These two paths are stored, because every write needs them.
  let data: String
  let lock: String

  var newData: String { directory + "/data.mdb.new" }
  var recovery: String { directory + "/recovery" }

  private static let names =
    ["data.mdb", "data.mdb.new", "lock.mdb", "recovery"] + StoreLocks.names + MappedFile.names
    + [ProcessSlots.name]

  /// Resolves symbolic links, so that each store has only one path.
  init(resolving path: String) throws(OpenError) {
    // The system takes a zero byte as the end of the path, so the system would use another path.
    guard !path.utf8.contains(0) else { throw OpenError(.invalidPath, path: path) }
    guard let resolved = unsafe realpath(path, nil) else {
      let isFile = larder_errno() == ENOTDIR
      throw Self.failure(path, absent: .absent, other: isFile ? .notADirectory : .system)
    }
    defer { unsafe free(resolved) }
    guard let directory = unsafe String(validatingCString: resolved) else {
      throw OpenError(.invalidPath, path: unsafe String(cString: resolved))
    }
    self.directory = directory
    data = directory + "/data.mdb"
    lock = directory + "/lock.mdb"
  }

  /// The error after a failed system call. The kind is `absent` if a directory of the path does not exist.
  private static func failure(
    _ path: String, absent: OpenError.Kind, other: OpenError.Kind
  ) -> OpenError {
    let cause = LMDBError.last
    guard cause.code == ENOENT else { return OpenError(other, path: path, cause: cause) }
    if let link = FileStatus.danglingLink(on: path) {
      return OpenError(.danglingLink, path: link.path, detail: link.target)
    }
    // If a program argument is not UTF-8, Swift replaces its invalid bytes by U+FFFD, so the path is wrong.
    let isInvalid = path.unicodeScalars.contains("\u{FFFD}")
    return OpenError(isInvalid ? .invalidPath : absent, path: path, cause: cause)
  }

  /// Creates the directory, to which only the user has access. The parent of the directory must exist.
  static func makeDirectory(_ path: String) throws(OpenError) {
    guard !path.utf8.contains(0) else { throw OpenError(.invalidPath, path: path) }
    if unsafe mkdir(path, 0o700) == 0 || larder_errno() == EEXIST { return }
    throw failure(path, absent: .absentParent, other: .notCreated)
  }

  /// Whether there is a data file with content. Throws if this is unknown, because an existing file must not be made again.
  var hasData: Bool {
    get throws(OpenError) {
      guard let status = FileStatus.of(data) else {
        if larder_errno() == ENOENT { return false }
        throw systemError(data)
      }
      return status.st_size > 0
    }
  }

  static func removeFiles(in directory: String) {
    for name in names { unsafe unlink(directory + "/" + name) }
  }

  /// Whether all files in the directory have names that a store's files have.
  func isEmptyBesidesOwnFiles() throws(OpenError) -> Bool {
    guard let stream = unsafe opendir(directory) else { throw systemError(directory) }
    defer { unsafe closedir(stream) }
    let own = Set(Self.names + [".", ".."])
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !own.contains(name) { return false }
    }
    return true
  }

  /// Whether a process was killed while it made a store here. If so, the directory has files of a store but no data file.
  func isUnfinished() throws(OpenError) -> Bool {
    let hasOwn = Self.names.contains { FileStatus.of(directory + "/" + $0) != nil }
    guard hasOwn, try !hasData else { return false }
    return try isEmptyBesidesOwnFiles()
  }

  func systemError(_ path: String) -> OpenError { OpenError(.system, path: path, cause: .last) }

  /// Whether the process may use lock files. False if another user's directory lacks one: that user could not use a new file.
  static func mayMakeLocks(in directory: String) -> Bool {
    FileStatus.of(directory)?.st_uid == geteuid()
      || (StoreLocks.names + ["lock.mdb"]).allSatisfy { FileStatus.of(directory + "/" + $0) != nil }
  }

  /// Throws for links, for files that another user owns or can change, and for file systems without reliable locks. Returns
  /// whether the process may write all files; this is false only if the options allow only reading.
  func inspect(_ options: EnvironmentOptions) throws(OpenError) -> Bool {
    guard let status = FileStatus.of(directory) else { throw systemError(directory) }
    if !status.isDirectory { throw OpenError(.notADirectory, path: directory) }
    if unsafe larder_access(directory, R_OK | X_OK) != 0 { throw systemError(directory) }
    let paths = [data, lock, recovery] + StoreLocks.names.map { directory + "/" + $0 }
    let present = paths.compactMap { path in FileStatus.of(path).map { (path: path, status: $0) } }
    try inspectOwner(status, directory, forbidden: 0o022, options)
    for (file, status) in present {
      if !status.isRegularFile { throw OpenError(.notAFile, path: file) }
      if status.st_nlink != 1 { throw OpenError(.linked, path: file) }
    }
    var isWritable = Self.mayMakeLocks(in: directory)
    for path in [directory] + present.map({ $0.path }) where unsafe larder_access(path, W_OK) != 0 {
      if !options.readOnly { throw OpenError(.unwritable, path: path, cause: .last) }
      isWritable = false
    }
    for (file, status) in present {
      if unsafe larder_access(file, R_OK) != 0 { throw systemError(file) }
      try inspectOwner(status, file, forbidden: isWritable ? 0o077 : 0o022, options)
    }
    if !options.networkFileSystem, isOnNetwork {
      throw OpenError(.networkFileSystem, path: directory)
    }
    return isWritable
  }

  private func inspectOwner(
    _ status: stat, _ path: String, forbidden: mode_t, _ options: EnvironmentOptions
  ) throws(OpenError) {
    if status.st_uid != geteuid() {
      if !options.foreignOwner { throw OpenError(.foreignOwner, path: path) }
    } else if status.st_mode & forbidden != 0 {
      throw OpenError(.exposed, path: path, detail: directory)
    }
  }

  private var isOnNetwork: Bool {
    var system = statfs()
    guard unsafe statfs(directory, &system) == 0 else { return false }
    #if canImport(Darwin)
      return system.f_flags & UInt32(MNT_LOCAL) == 0
    #else
      // The numbers of NFS, SMB, SMB2, CIFS, FUSE, 9P, Ceph, AFS (two), Lustre, GPFS, BeeGFS, OCFS2, GFS2, OrangeFS, Coda and
      // VirtualBox, from linux/magic.h or the source of the file system.
      let network: Set<UInt32> = [
        0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400,
        0x5346_414F, 0x6B41_4653, 0x0BD0_0BD0, 0x4750_4653, 0x1983_0326, 0x7461_636F, 0x0116_1970,
        0x2003_0528, 0x7375_7245, 0x786F_4256,
      ]
      return network.contains(UInt32(truncatingIfNeeded: system.f_type))
    #endif
  }
}
