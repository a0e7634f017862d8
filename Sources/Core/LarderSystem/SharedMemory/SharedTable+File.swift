import CLarderSystem
import Synchronization

extension SharedTable {
  /// The longest wait for others. A slow disk allocates a file in one second; a stopped process must not block others.
  private static let openingTimeout = Duration.seconds(2)

  /// Maps the file for reading and writing. If there is no usable file, makes a file of `count` words, all 0; `prepare` fills
  /// the file before other processes can see it. If no file can be mapped, returns false and keeps the current map.
  @discardableResult
  package func open(making count: Int, prepare: (borrowing View) -> Void = { _ in }) -> Bool {
    precondition(count > 0 && count % 2 == 0 && format.accepts(count))
    return maps.withLock { maps in
      if isSound(&maps, writable: true) { return true }
      if unsafe install(find(writable: true), in: &maps) { return true }
      do throws(SystemError) {
        return try replacing.withLock(lockTimeout: Self.openingTimeout) { () throws(SystemError) in
          if unsafe install(find(writable: true), in: &maps) { return true }
          return unsafe install(try make(count, filling: prepare), in: &maps)
        }
      } catch {
        failureCode.store(error.code, ordering: .relaxed)
        return false
      }
    }
  }

  /// Like ``open(making:prepare:)``, but makes no file. Without a usable file, returns false and keeps the current map.
  @discardableResult
  package func openExisting(writable: Bool = true) -> Bool {
    maps.withLock { maps in
      if isSound(&maps, writable: writable) { return true }
      return unsafe install(find(writable: writable), in: &maps)
    }
  }

  /// Maps a usable file for reading; never creates or changes a file.
  @discardableResult
  package func openForReading() -> Bool { openExisting(writable: false) }

  /// After this call, the table accepts only a file with the current number of words.
  package func keepCount() { keptCount.store(view.count, ordering: .relaxed) }

  /// Whether the file belongs to another store or format. Throws if reading fails.
  package func isForeign() throws(SystemError) -> Bool {
    try wordCount(in: FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)) == nil
  }

  /// The number of words in the file; nil if this table does not accept the header.
  private func wordCount(in file: borrowing FileDescriptor) throws(SystemError) -> Int? {
    let header = try file.contents(at: 0, count: format.header(count: 0).count)
    return format.count(header: header, size: try file.size())
  }

  /// Reads a 64-bit word of a file that no process uses. Nil if there is no file, or if the file has no such word.
  package static func word(
    _ index: Int, of file: MappedFile, in directory: String
  ) throws(SystemError) -> UInt64? {
    let path = "\(directory)/\(file.rawValue)"
    if FileStatus.of(path) == nil { return nil }
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    let bytes = try file.contents(at: MappedRegion.headerSize + 8 * index, count: 8)
    return bytes.count == 8 ? bytes.span.littleEndian(at: 0) : nil
  }

  package var failure: SystemError { SystemError(code: failureCode.load(ordering: .relaxed)) }

  /// Replaces the file by a new file with `count` words; `fill` copies the old words. Concurrent writes to the old file are lost.
  /// Returns false if the file is not mapped for writing, if another process replaces the file, or if a system call fails.
  @discardableResult
  package func replace(count: Int, _ fill: (borrowing View, borrowing View) -> Void) -> Bool {
    precondition(count > 0 && count % 2 == 0 && format.accepts(count))
    return maps.withLock { maps in
      guard isSound(&maps, writable: true) else { return false }
      let isReplaced = try? replacing.withLock(lockTimeout: .milliseconds(100)) {
        () throws(SystemError) in
        let old = unsafe maps.all.last!
        if unsafe old.pointee.isSuperseded { return false }
        return unsafe install(
          try make(count, filling: { unsafe fill(Self.view(of: old), $0) }), in: &maps)
      }
      return isReplaced ?? false
    }
  }

  /// Returns the map to use after another process replaced the file.
  @inline(never) @usableFromInline
  func remap(_ region: UnsafeMutablePointer<MappedRegion>) -> UnsafeMutablePointer<MappedRegion> {
    // If another thread holds the lock, this call does not wait but returns the old map, which is still valid memory.
    maps.withLockIfAvailable { maps in
      let last = unsafe maps.all.last!
      guard unsafe last.pointee.isSuperseded else { return }
      if unsafe !install(find(writable: last.pointee.isWritable), in: &maps) {
        unsafe last.pointee.isDetached.store(true, ordering: .relaxed)
      }
    }
    return unsafe current.load(ordering: .acquiring)
  }

  /// Removes the file, so that other processes make a new file. Ignores an error: then no process can make a file there.
  package func remove() { if ownsDirectory { unsafe unlink(path) } }

  /// False if the directory has another lock file than this process locks: then another store may have replaced the store.
  private var ownsDirectory: Bool {
    let lock = directory + "/lock.maps"
    return FileStatus.of(lock) == nil || replacing.isAt(lock)
  }

  /// Whether the file is still at its path. Another program may have deleted or replaced the file.
  package var isInPlace: Bool { unsafe isInPlace(current.load(ordering: .acquiring)) }

  private func isInPlace(_ region: UnsafeMutablePointer<MappedRegion>) -> Bool {
    let file = unsafe region.pointee.file
    return FileStatus.of(path).map { FileIdentity($0) } == file
  }

  /// Whether the current map belongs to the current file, and is writable if `writable` is set.
  private func isSound(_ maps: inout Maps, writable: Bool) -> Bool {
    let last = unsafe maps.all.last!
    guard unsafe last.pointee.count > 0, unsafe last.pointee.isWritable || !writable,
      unsafe isInPlace(last)
    else { return false }
    unsafe last.pointee.isDetached.store(false, ordering: .relaxed)
    return unsafe !last.pointee.isSuperseded
  }

  private func install(_ region: UnsafeMutablePointer<MappedRegion>?, in maps: inout Maps) -> Bool {
    guard let region = unsafe region else { return false }
    unsafe maps.all.append(region)
    unsafe current.store(region, ordering: .releasing)
    return true
  }

  @_lifetime(immortal)
  private static func view(of region: UnsafeMutablePointer<MappedRegion>) -> View {
    unsafe View(
      words: region.pointee.words, count: region.pointee.count,
      isWritable: region.pointee.isWritable)
  }

  private var path: String { directory + "/" + format.file.rawValue }

  /// Maps the current file; nil if the file is not usable. Tolerates `tries` replacements of the file during the call.
  private func find(writable: Bool, tries: Int = 64) -> UnsafeMutablePointer<MappedRegion>? {
    do throws(SystemError) {
      let flags = (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK
      let file = try FileDescriptor(opening: path, flags)
      guard let status = file.status else { return nil }
      if status.st_nlink == 0, tries > 0 {
        return unsafe find(writable: writable, tries: tries - 1)
      }
      let kept = keptCount.load(ordering: .relaxed)
      guard isOurs(status), let count = try wordCount(in: file), kept == 0 || kept == count
      else { return nil }
      // The missing blocks are allocated before the map is written: on a full disk, a write to a missing block raises SIGBUS.
      if writable, status.st_blocks * 512 < status.st_size {
        try file.allocate(Int(status.st_size))
      }
      return unsafe MappedRegion.map(file, count: count, isWritable: writable)
    } catch { return nil }
  }

  /// Whether the file is regular, has one link, belongs to the owner of the directory, and gives rights only to its owner.
  private func isOurs(_ status: stat) -> Bool {
    let isFile = status.isRegularFile && status.st_nlink == 1
    guard let directory = FileStatus.of(directory) else { return false }
    return isFile && status.st_uid == directory.st_uid && status.st_mode & 0o077 == 0
  }

  /// The file that will be replaced, of any store or layout. Nil if its header does not have the mark of this kind of file.
  private func predecessor() -> FileDescriptor? {
    guard let file = try? FileDescriptor(opening: path, O_RDWR | O_NOFOLLOW | O_NONBLOCK),
      let status = file.status, isOurs(status), status.st_size > MappedRegion.headerSize,
      (try? file.contents(at: 0, count: format.mark.count)) == format.mark
    else { return nil }
    return file
  }

  /// Creates a file under a temporary name and renames it. The caller holds the lock for replacing.
  private func make(
    _ count: Int, filling fill: (borrowing View) -> Void
  ) throws(SystemError) -> UnsafeMutablePointer<MappedRegion> {
    guard ownsDirectory else { throw .replaced }
    let unfinished = directory + "/" + format.file.unfinished
    do throws(SystemError) {
      try FileStatus.remove(unfinished)
      let file = try FileDescriptor(opening: unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
      try file.allocate(MappedRegion.headerSize + 4 * count)
      try file.write(format.header(count: count), at: 0)
      guard let region = unsafe MappedRegion.map(file, count: count, isWritable: true) else {
        throw .last
      }
      unsafe fill(Self.view(of: region))
      do throws(SystemError) {
        let before = predecessor()
        try checkErrno { unsafe rename(unfinished, path) }
        // Other processes use the old file until they see this mark or close the store.
        if let before {
          try before.write([UInt8](littleEndian: UInt64(1)), at: MappedRegion.supersededOffset)
        }
      } catch {
        unsafe MappedRegion.release(region)
        throw error
      }
      return unsafe region
    } catch {
      unsafe unlink(unfinished)
      throw error
    }
  }
}
