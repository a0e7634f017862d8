import Larder
import ShellLanguage

extension Durability {
  /// `durable: a power failure loses nothing; a killed process loses nothing`
  var words: String {
    let loss =
      self == .durable
      ? "a power failure loses nothing"
      : self == .checkpointed
        ? "a power failure may lose the writes of the last 200 ms and those made during the next sync"
        : self == .scratch
          ? "a power failure empties the store unless it was closed or synced"
          : "a power failure may lose the last commit"
    return "\(rawValue): \(loss); a killed process loses nothing"
  }
}

extension StoreLimitInfo {
  /// Whether the effective disk limit is the default, which was chosen when the store was created.
  var isDiskDefault: Bool {
    defaultDisk != nil && declared.disk == nil && overrides.disk == nil
  }

  /// `5.5 GB (default: a tenth of the free disk, up to 10 GB)`; nil without a disk limit.
  var diskWords: String? {
    effective.disk.map { disk in
      Wording.size(disk)
        + (isDiskDefault ? " (default: a tenth of the free disk, up to 10 GB)" : "")
    }
  }

  /// The limits in words: `64 MB, 1,000 entries, file of 1 GB`; nil without a limit.
  var words: String? {
    let parts = [
      Limits(entries: effective.entries, bytes: effective.bytes).words,
      effective.memory.map { "memory of \(Wording.size($0))" },
      diskWords.map { "file of \($0)" },
    ].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
