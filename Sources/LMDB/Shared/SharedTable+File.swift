import CLMDB
import Synchronization

extension SharedTable {
  /// Maps the file for reading and writing; makes one of `count` words, all 0, if there is none that can be used.
  ///
  /// - Parameter prepare: fills a new file before anybody can see it.
  /// - Returns: false if it cannot be had; what was mapped before stays.
  @discardableResult
  package func open(
    making count: Int, prepare: (borrowing View) -> Void = { _ in }
  ) -> Bool {
    precondition(count > 0 && count % 2 == 0 && format.accepts(count))
    return maps.withLock { maps in
      if isSound(&maps, writable: true) { return true }
      if unsafe install(find(writable: true), in: &maps) { return true }
      return environment.locks.whileReplacing {
        if unsafe install(find(writable: true), in: &maps) { return true }
        return unsafe install(make(count, filling: prepare), in: &maps)
      } ?? false
    }
  }

  /// Maps the file for reading if there is one that can be used; never makes or changes one.
  @discardableResult
  package func openForReading() -> Bool {
    maps.withLock { maps in
      if isSound(&maps, writable: false) { return true }
      return unsafe install(find(writable: false), in: &maps)
    }
  }

  /// Puts a new file of `count` words in the place of the one that is mapped for writing; `fill` carries over from the old
  /// to the new. Stores that others make into the old one meanwhile are lost.
  ///
  /// - Returns: false if nothing was replaced: nothing is mapped for writing, another process was faster or replaces one
  ///   just now, or the disk has no room.
  @discardableResult
  package func replace(count: Int, _ fill: (borrowing View, borrowing View) -> Void) -> Bool {
    precondition(count > 0 && count % 2 == 0 && format.accepts(count))
    return maps.withLock { maps in
      guard isSound(&maps, writable: true) else { return false }
      return environment.locks.whileReplacing {
        let old = unsafe maps.all.last!
        if unsafe old.pointee.isSuperseded { return false }
        guard let made = unsafe make(count, filling: { unsafe fill(Self.view(of: old), $0) }) else {
          return false
        }
        return unsafe install(made, in: &maps)
      } ?? false
    }
  }

  /// The map to go on with after another process has put a new file in the place of `region`.
  @inline(never) @usableFromInline
  func follow(_ region: UnsafeMutablePointer<MappedRegion>) -> UnsafeMutablePointer<MappedRegion> {
    // Whoever finds the lock taken goes on with the old words for this once.
    maps.withLockIfAvailable { maps in
      let last = unsafe maps.all.last!
      guard unsafe last.pointee.isSuperseded else { return }
      if unsafe !install(find(writable: last.pointee.isWritable), in: &maps) {
        unsafe last.pointee.isDetached.store(true, ordering: .relaxed)
      }
    }
    return unsafe current.load(ordering: .acquiring)
  }

  /// Whether what is mapped is the file in place, and can be written if that is asked for.
  private func isSound(_ maps: inout Maps, writable: Bool) -> Bool {
    let last = unsafe maps.all.last!
    guard unsafe last.pointee.count > 0, unsafe last.pointee.isWritable || !writable else {
      return false
    }
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

  private func path(_ name: String) -> String { environment.path + "/" + name }

  /// The file in place, if it can be used.
  ///
  /// - Parameter tries: how often another may be put in its place while it is being opened.
  private func find(writable: Bool, tries: Int = 64) -> UnsafeMutablePointer<MappedRegion>? {
    do throws(LMDBError) {
      let flags = (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK
      let file = try FileDescriptor(opening: path(format.file.rawValue), flags)
      guard let status = file.status else { return nil }
      if status.st_nlink == 0, tries > 0 {
        return unsafe find(writable: writable, tries: tries - 1)
      }
      guard isOurs(status) else { return nil }
      let size = Int(status.st_size)
      guard size > MappedRegion.headerSize,
        let count = format.count(
          header: file.read(at: 0, count: format.header(count: 0).count), size: size)
      else { return nil }
      // A hole that is written through a map on a full disk would raise SIGBUS.
      if writable, status.st_blocks * 512 < status.st_size {
        try check(clmdb_allocate(file.number, status.st_size))
      }
      return unsafe MappedRegion.map(file, count: count, isWritable: writable)
    } catch {
      return nil
    }
  }

  /// A plain file with one name that nobody else could have put there.
  private func isOurs(_ status: stat) -> Bool {
    let isFile = status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) && status.st_nlink == 1
    guard let directory = StoreFiles.status(of: environment.path) else { return false }
    return isFile && status.st_uid == directory.st_uid && status.st_mode & 0o077 == 0
  }

  /// The file in place, whatever store or layout it is of, if it is one that can be told that it was left.
  private func predecessor() -> FileDescriptor? {
    do throws(LMDBError) {
      let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
      let file = try FileDescriptor(opening: path(format.file.rawValue), flags)
      guard let status = file.status, isOurs(status), status.st_size > MappedRegion.headerSize,
        file.read(at: 0, count: format.mark.count) == format.mark
      else { return nil }
      return file
    } catch {
      return nil
    }
  }

  /// Makes a file under another name and moves it into place whole. Called with the lock for that held.
  private func make(
    _ count: Int, filling fill: (borrowing View) -> Void
  ) -> UnsafeMutablePointer<MappedRegion>? {
    let unfinished = path(format.file.unfinished)
    do throws(LMDBError) {
      if StoreFiles.status(of: unfinished) != nil { try checkErrno { unsafe unlink(unfinished) } }
      let file = try FileDescriptor(opening: unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
      try check(clmdb_allocate(file.number, off_t(MappedRegion.headerSize + 4 * count)))
      try file.write(format.header(count: count), at: 0)
      guard let region = unsafe MappedRegion.map(file, count: count, isWritable: true) else {
        throw LMDBError(code: clmdb_errno())
      }
      unsafe fill(Self.view(of: region))
      do throws(LMDBError) {
        let before = predecessor()
        try checkErrno { unsafe rename(unfinished, path(format.file.rawValue)) }
        // Who maps it goes on with it until then; if this cannot be written, until it closes.
        if let before { try before.write(MappedRegion.left, at: MappedRegion.leftOffset) }
      } catch {
        unsafe MappedRegion.release(region)
        throw error
      }
      return unsafe region
    } catch {
      unsafe unlink(unfinished)
      return nil
    }
  }
}
