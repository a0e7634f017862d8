import LMDB
import LarderSystem

/// The records that killed processes have left in the write buffer of a store.
struct SalvagedRecords {
  let contents: BufferContents
  /// The commit on which the records lie.
  let commit: UInt64

  /// Reads the records and changes nothing in the store.
  ///
  /// - Returns: nil if the store has no records. They are lost if the store cannot be opened.
  init?(at path: String, boot: BootIdentity?) {
    guard FileStatus.of(path + "/" + MappedFile.buffer.rawValue) != nil else { return nil }
    var options = Store.Options()
    options.create = false
    options.readOnly = true
    options.hooks.boot = boot
    do throws(LarderError) {
      let store = try Store(at: path, options: options)
      guard let buffer = store.engine.reader.buffer, buffer.hasRecords else {
        try store.close()
        return nil
      }
      let state = buffer.state
      commit = buffer.base(of: state)
      contents = BufferContents(of: buffer, to: state)
      try store.close()
    } catch {
      return nil
    }
  }
}
