import HTTPTypes

/// Which of the stored responses of a URI a request selects (RFC 9111, 4 and 4.1).
struct Selection {
  /// The one to answer with: whole, or a part that has what the request wants. Of several the newest.
  let best: Int?
  /// Else a part of what it selects.
  let part: Int?

  init(_ request: HTTPRequest, stored: [StoredResponse], policy: HTTPCachePolicy) {
    let fields = request.headerFields
    let credential = HTTPRules(policy: policy).credential(of: request)
    var selecting = SelectingFields(fields, policy: policy)
    let selected = stored.indices.filter { index in
      stored[index].credential == credential && stored[index].isSelected(by: &selecting)
    }
    let newest = { (indices: [Int]) in
      indices.max {
        (stored[$0].date, stored[$0].received) < (stored[$1].date, stored[$1].received)
      }
    }
    let parts = selected.filter { stored[$0].response.status.code == 206 }
    let whole = newest(selected.filter { stored[$0].response.status.code != 206 })
    let wanted = request.method == .get ? ByteRange.parse(fields) : nil
    let fitting = parts.filter { index in
      guard let part = stored[index].part, wanted?.count == 1, let range = wanted?.first,
        let bytes = range.resolved(in: part.whole)
      else { return false }
      return part.bytes.contains(bytes.lowerBound) && part.bytes.contains(bytes.upperBound)
        && stored[index].allowsRange(fields)
    }
    best = whole ?? newest(fitting)
    part = best == nil ? newest(parts) : nil
  }
}
