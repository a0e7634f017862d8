public import Larder

extension EntityRule {
  /// What the store is told; nil for a kind that is switched off.
  public var rules: Rules? {
    switch lifetime {
    case .never: Rules(expires: .never)
    case .after(let duration): Rules(expires: .after(duration))
    case .off: nil
    }
  }
}
