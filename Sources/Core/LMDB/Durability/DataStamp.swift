import CLarderSystem
import LarderSystem

/// Two numbers that identify a data file. The numbers are the last bytes of the first page, of which LMDB writes only the
/// beginning. The file `recovery` has the stamp of its data file. A copy of the data file has the same stamp.
struct DataStamp: Equatable {
  /// The number of the store. A data file that is made from this file has the same number. A file without a stamp has 0.
  var store: UInt64
  /// A random number, new for each data file. The number also changes when a restored file is opened, and at the level scratch
  /// before the first write after a sync.
  var file: UInt64

  static let size = 16
  static let none = DataStamp(store: 0, file: 0)
}

extension DataStamp {
  init(_ bytes: [UInt8]) { self.init(store: bytes.u64(0), file: bytes.u64(8)) }

  static var new: DataStamp { DataStamp(store: .random(in: 1...UInt64.max), file: 0).renewed }

  var renewed: DataStamp { DataStamp(store: store, file: .random(in: 1...UInt64.max)) }

  var encoded: [UInt8] {
    var bytes = [UInt8](littleEndian: store)
    bytes.append(littleEndian: file)
    return bytes
  }

  /// The result is ``none`` if the file is too short for a stamp.
  init(of path: String) throws(LMDBError) {
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
    let bytes = try file.contents(at: Self.place(in: file), count: Self.size)
    self = bytes.count == Self.size ? DataStamp(bytes) : .none
  }

  /// Writes the stamp but does not sync the file.
  func write(to path: String) throws(LMDBError) {
    let file = try FileDescriptor(opening: path, O_RDWR | O_NOFOLLOW)
    try file.write(encoded, at: Self.place(in: file))
  }

  private static func place(in file: borrowing FileDescriptor) throws(LMDBError) -> Int {
    guard let page = try MetaImage.at(0, of: file) else { throw .corrupted }
    return page.pageSize - size
  }
}
