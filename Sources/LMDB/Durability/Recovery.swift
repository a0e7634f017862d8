import CLarderSystem
import LarderSystem

/// Restores the last state on the disk after a power failure; does nothing without one. The caller is alone.
///
/// If this is interrupted, the next opening repeats it: the record that asks for it is replaced last.
struct Recovery {
  let files: StoreFiles
  let options: EnvironmentOptions

  /// - Parameter fill: fills an environment that has to be created again.
  func run(_ fill: Opening.Filling) throws(OpenError) {
    guard let found = try unrecovered() else { return }
    if options.readOnly { throw OpenError(.needsRecovery, path: files.directory) }
    if found.record.level == .scratch {
      try Creation(files: files, options: options, level: .scratch).run(fill)
    }
    do throws(LMDBError) {
      if let point = found.record.recoveryPoint { try restore(point) }
      var record = found.record
      record.isDirty = false
      record.boot = try options.currentBoot
      try found.file.write(record)
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }

  /// The record of an earlier boot, if the data file may differ from what that boot synced.
  private func unrecovered() throws(OpenError) -> (file: RecoveryFile, record: RecoveryRecord)? {
    if FileStatus.of(files.recovery) == nil { return nil }
    do throws(LMDBError) {
      let file = try RecoveryFile(opening: files.recovery, readOnly: options.readOnly)
      if let record = try file.read() {
        if try record.boot == options.currentBoot { return nil }
        let isAtPoint = try record.recoveryPoint.map { point throws(LMDBError) in
          try isAt(point)
        }
        return isAtPoint ?? !record.isDirty ? nil : (file, record)
      }
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
    throw OpenError(.damaged, path: files.recovery, detail: "it has no valid record")
  }

  /// Whether LMDB would choose the recovery point: then no later commit reached the meta pages, and the pages of the point
  /// are as they were synced.
  private func isAt(_ point: MetaImage) throws(LMDBError) -> Bool {
    let file = try FileDescriptor(opening: files.data, O_RDONLY | O_NOFOLLOW)
    let own = try file.contents(at: point.place, count: MetaImage.size)
    let other = try file.contents(at: point.predecessor.place, count: MetaImage.size)
    return own == point.bytes && other.count == MetaImage.size
      && MetaImage(pageSize: point.pageSize, bytes: other).transaction == point.transaction &- 1
  }

  /// Makes LMDB choose the recovery point.
  private func restore(_ point: MetaImage) throws(LMDBError) {
    let file = try FileDescriptor(opening: files.data, O_RDWR | O_NOFOLLOW)
    try file.write(point.predecessor.bytes, at: point.predecessor.place)
    try file.write(point.bytes, at: point.place)
    try file.sync()
  }
}

/// The beginning of a meta page, with all that LMDB needs to find a commit.
struct MetaImage: Equatable {
  static let size = MetaPage.size

  let pageSize: Int
  let bytes: [UInt8]

  /// - Precondition: `bytes` has the right size.
  init(pageSize: Int, bytes: [UInt8]) {
    precondition(bytes.count == Self.size)
    self.pageSize = pageSize
    self.bytes = bytes
  }

  /// Nil for a page size that LMDB does not have, or too few bytes: both come from a file.
  init?(pageSize: UInt64, bytes: [UInt8]) {
    guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1,
      bytes.count == Self.size
    else { return nil }
    self.pageSize = Int(pageSize)
    self.bytes = bytes
  }

  /// The newer meta page of a data file that no process has open.
  static func newest(of path: String) throws(LMDBError) -> MetaImage {
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
    let first = try file.contents(at: 0, count: size)
    guard first.count == size else { throw .corrupted }
    let pageSize = UInt64(first.u32(MetaPage.Offset.pageSize))
    guard let zero = MetaImage(pageSize: pageSize, bytes: first),
      let one = MetaImage(
        pageSize: pageSize, bytes: try file.contents(at: Int(pageSize), count: size))
    else { throw .corrupted }
    return zero.transaction < one.transaction ? one : zero
  }

  var transaction: UInt64 { bytes.u64(MetaPage.Offset.transaction) }
  /// The offset of its meta page; commits alternate between the two.
  var place: Int { Int(transaction % 2) * pageSize }

  /// The same commit under the previous number, for the other meta page: valid, but LMDB will not choose it.
  var predecessor: MetaImage {
    var other = bytes
    other[0] ^= 1
    other.removeLast(8)
    other.append(littleEndian: transaction &- 1)
    return MetaImage(pageSize: pageSize, bytes: other)
  }
}
