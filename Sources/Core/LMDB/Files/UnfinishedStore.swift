import CLarderSystem
import LarderSystem

/// The directory in which a process makes a new store. The directory has a hidden name and the same parent as the final place.
/// The process holds a lock on the directory. A directory without a lock was left by a process that was killed. The next
/// process that makes a store there removes the files of a store from the directory, but keeps files with other names.
package struct UnfinishedStore: ~Copyable {
  package let place: String
  package let path: String
  private let directory: FileDescriptor

  /// Throws `exists` if there is a file at `place`, `inTheWay` if the hidden name belongs to a file or to a directory of other
  /// users or with other files, and `busy` if another process is making a store there.
  package init(for place: String) throws(OpenError) {
    var place = place
    while place.utf8.count > 1, place.last == "/" { place.removeLast() }
    self.place = place
    path = Self.path(beside: place)
    if FileStatus.of(place) != nil { throw Self.taken(place) }
    let claimed = try Self.claim(path, for: place)
    // The owner of the directory could put other files in the place of the new files.
    guard claimed.status?.st_uid == geteuid()
    else { throw OpenError(.inTheWay, path: path, detail: "a directory of another user") }
    StoreFiles.removeFiles(in: path)
    guard try StoreFiles(resolving: path).isEmptyBesidesOwnFiles() else {
      throw OpenError(.inTheWay, path: path, detail: "a directory with other files")
    }
    directory = claimed
  }

  private static func taken(_ place: String) -> OpenError {
    let link = FileStatus.danglingLink(on: place)
    let detail = link.map { "a symbolic link to \($0.target), which does not exist" } ?? ""
    return OpenError(.exists, path: place, detail: detail)
  }

  /// The path `folder/.name.unfinished`. A file name has at most 255 bytes, so the path has only 50 characters of the name.
  private static func path(beside place: String) -> String {
    let slash = place.utf8.lastIndex(of: UInt8(ascii: "/"))
    let start = slash.map { place.utf8.index(after: $0) } ?? place.startIndex
    let name = String(String.UnicodeScalarView(place[start...].unicodeScalars.prefix(50)))
    return place[..<start] + "." + name + ".unfinished"
  }

  private static func claim(_ path: String, for place: String) throws(OpenError) -> FileDescriptor {
    // Another process may complete its store and rename the directory before this process has the lock. Then tries again.
    for _ in 0..<100 {
      do throws(OpenError) { try StoreFiles.makeDirectory(path) } catch {
        if error.kind == .danglingLink { throw error }
        throw OpenError(error.kind, path: place, cause: error.cause)
      }
      do throws(LMDBError) {
        let directory = try FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        let number = directory.number
        try checkErrno { larder_flock(number, LOCK_EX | LOCK_NB) }
        if FileStatus.isFile(number, at: path) {
          if FileStatus.of(place) == nil { return directory }
          // There is a store now: another process completed it before this process got the lock.
          unsafe rmdir(path)
          throw LMDBError(code: EEXIST)
        }
      } catch {
        if let status = FileStatus.of(path), !status.isDirectory {
          throw OpenError(
            .inTheWay, path: path, detail: status.isLink ? "a symbolic link" : "a file")
        }
        if error.code == ENOENT { continue }
        if error.code == EEXIST { throw taken(place) }
        if error.code != EWOULDBLOCK { throw OpenError(.notCreated, path: path, cause: error) }
        break
      }
    }
    throw OpenError(.busy, path: place, detail: "another process makes a store there")
  }

  /// Renames the closed and flushed store to its place, except if another store is there. An error leaves no new store there.
  package func finish() throws(OpenError) {
    do throws(LMDBError) {
      try FileStatus.syncDirectory(path)
      try checkErrno { unsafe rename(path, place) }
      do throws(LMDBError) { try FileStatus.syncParent(of: place) } catch {
        unsafe rename(place, path)
        throw error
      }
    } catch {
      let isTaken = [EEXIST, ENOTEMPTY, ENOTDIR].contains(error.code)
      throw OpenError(isTaken ? .exists : .notCreated, path: place, cause: error)
    }
  }

  /// Removes the files of the store. Removes the directory if it has no other files.
  package func remove() {
    StoreFiles.removeFiles(in: path)
    unsafe rmdir(path)
  }
}
