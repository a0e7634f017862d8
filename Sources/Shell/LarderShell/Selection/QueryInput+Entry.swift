import Larder
import ShellLanguage

extension QueryInput {
  /// - Parameter readsResponse: Whether the expression uses the status or a header of an HTTP response.
  init(_ entry: Store.Entry, readsResponse: Bool) {
    self.init()
    key = entry.key.bytes
    namespace = entry.namespace
    codec = entry.codec.name
    entityTag = entry.entityTag
    state = entry.state.rawValue
    size = entry.size
    stored = entry.storedSize
    version = Int(clamping: entry.version)
    written = entry.written.unix
    used = entry.lastUsed?.unix
    expires = entry.expires?.unix
    lastModified = entry.lastModified
    tags = entry.tags
    isPinned = entry.isPinned
    isNegative = entry.isNegative
    metadata = entry.metadata
    if readsResponse, let metadata, let head = ResponseHead(metadata: metadata),
      let status = Int(String(decoding: head.status.prefix(3), as: UTF8.self))
    {
      response = (status, head.fields)
    }
  }
}

extension QueryOperand {
  /// Whether the evaluation needs the head of an HTTP response.
  var readsResponse: Bool {
    switch self {
    case .path(let path): if case .header = path.root { true } else { false }
    case .name(let name): name == .status
    case .constant: false
    case .call(_, let operand): operand.readsResponse
    }
  }
}

extension Expression {
  var readsResponse: Bool {
    var reads = false
    forEachOperand { reads = reads || $0.readsResponse }
    return reads
  }
}
