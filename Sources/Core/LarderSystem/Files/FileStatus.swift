package import CLarderSystem

package enum FileStatus {
  /// The result of `lstat`; nil if the call fails, for example because there is no file at `path`.
  package static func of(_ path: String) -> stat? {
    var status = stat()
    // `withCString` lends the bytes of the string; passing the string itself would copy the bytes into an array.
    return unsafe path.withCString { unsafe lstat($0, &status) } == 0 ? status : nil
  }

  package static func of(_ descriptor: Int32) -> stat? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
  }

  package static func isFile(_ descriptor: Int32, at path: String) -> Bool {
    guard let open = of(descriptor), let named = of(path) else { return false }
    return FileIdentity(open) == FileIdentity(named)
  }

  /// The first part of `path` that is a symbolic link whose target does not exist; nil if there is no such link.
  package static func danglingLink(on path: String) -> DanglingLink? {
    var end = path.startIndex
    while end < path.endIndex {
      end =
        path.utf8[path.utf8.index(after: end)...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
      let place = String(path[..<end])
      guard let status = of(place) else { return nil }
      guard status.isLink else { continue }
      var target = stat()
      guard unsafe stat(place, &target) != 0, [ENOENT, ENOTDIR].contains(larder_errno()) else {
        continue
      }
      return DanglingLink(path: place, target: destination(of: place))
    }
    return nil
  }

  private static func destination(of link: String) -> String {
    let bytes = unsafe [CChar](unsafeUninitializedCapacity: 4096) { buffer, count in
      count = max(unsafe readlink(link, buffer.baseAddress!, 4096), 0)
    }
    return String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Removes the file at `path`; does nothing if there is no file.
  package static func remove(_ path: String) throws(SystemError) {
    if of(path) != nil { try checkErrno { unsafe unlink(path) } }
  }

  /// The free bytes on the file system of `path` or of its nearest existing parent directory; nil if the system does not tell.
  package static func freeSpace(at path: String) -> Int? {
    var place = path
    while of(place) == nil, let slash = place.lastIndex(of: "/"), slash != place.startIndex {
      place = String(place[..<slash])
    }
    var system = statvfs()
    guard unsafe statvfs(place, &system) == 0 else { return nil }
    let (bytes, overflow) = UInt64(system.f_bavail)
      .multipliedReportingOverflow(by: UInt64(system.f_frsize))
    return overflow ? .max : Int(clamping: bytes)
  }

  /// Flushes the list of a directory's files to the disk, so that a new or renamed file is still there after a power failure.
  package static func syncDirectory(_ path: String) throws(SystemError) {
    let directory = try FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY)
    try checkErrno { fsync(directory.number) }
  }

  /// Flushes the name of `directory` in its parent directory to the disk, even if the process may not open the parent.
  package static func syncParent(of directory: String) throws(SystemError) {
    do throws(SystemError) {
      try syncDirectory(directory + "/..")
    } catch SystemError(code: EACCES) {
      let within = try FileDescriptor(opening: directory, O_RDONLY | O_DIRECTORY)
      try checkErrno { larder_sync_file_system(within.number) }
    }
  }
}

extension stat {
  package var isRegularFile: Bool { st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) }
  package var isDirectory: Bool { st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR) }
  package var isLink: Bool { st_mode & mode_t(S_IFMT) == mode_t(S_IFLNK) }
}

package struct DanglingLink: Hashable, Sendable {
  package let path: String
  package let target: String
}

/// Identifies a file, independently of its path.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64

  package init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
